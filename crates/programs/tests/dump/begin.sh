# Begins a history: an empty repository, a working copy in which the rest of the script runs, and
# the function that commits it.
svnadmin create r
svnadmin setuuid r f7a3d1b0-6f9f-43b6-9a36-9a5a2e5b1f6d
URL=file://$PWD/r
svn checkout -q $URL wc
cd wc
ci() { svn commit -qm "$1"; svn update -q; }

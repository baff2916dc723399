#!/bin/sh
# Makes the repository and the working copies of the tour, with Debian's svn.
#
# In:  $ROOT  an empty folder with the repository "repo" in it
#      $URL   its URL at a server that lets anybody read, and jo (password "secret") write
# Out: working copies below $ROOT, each in a state of its own.
set -e
cd "$ROOT"
here="file://$ROOT/repo"

by() { author=$1; shift; svn -q --non-interactive --username "$author" "$@"; }
jo() { svn -q --non-interactive --no-auth-cache --username jo --password secret "$@"; }
quiet() { svn -q --non-interactive "$@"; }

# ---- history ------------------------------------------------------------------------------------

quiet co "$here" make
cd make
mkdir -p trunk/A/B/E trunk/A/B/F trunk/A/C trunk/A/D/G trunk/A/D/H branches tags
for f in iota A/mu A/B/lambda A/B/E/alpha A/B/E/beta A/D/gamma A/D/G/pi A/D/G/rho A/D/G/tau \
    A/D/H/chi A/D/H/psi A/D/H/omega; do
    echo "This is the file '${f##*/}'." > "trunk/$f"
done
quiet add trunk branches tags
by jo commit -m "The tree of the Greeks."                                                    # 1

printf 'line two\nline three\n' >> trunk/iota
by "sally smith" commit -m "Say more.

Three paragraphs,

with a blank line at the end.
"                                                                                            # 2

by jo copy -m "Branch off: für später" "$here/trunk" "$here/branches/b1"                     # 3
quiet update
echo "on the branch" >> branches/b1/A/mu
by jo commit -m ""                                                                           # 4

quiet rm trunk/A/D/gamma
quiet cp trunk/A/D/G/pi trunk/A/D/gamma
echo "more" >> trunk/A/D/gamma
by verylongauthorname-of-somebody commit -m "Replace gamma with a copy of pi"                # 5

mkdir "trunk/odd names"
cd "trunk/odd names"
for f in "Ünïcödé.txt" "a b" "100%" "a@b" "#hash" "q?mark" "amp&<lt>" "quo'te\"s"; do
    echo "$f" > "$f"
done
cd ../..
quiet add "trunk/odd names"
by jo commit -m "Odd names: <&> \"quoted\" 'x'"                                              # 6

quiet update
cd trunk
printf '$Id$ $Rev$ $Author$ $Date$ $URL$ $Header$\n$Custom$\n' > keys
printf 'one\ntwo\n' > native
printf 'one\r\ntwo\r\n' > crlf
printf '#!/bin/sh\n' > run
printf '\001\002binary\000' > bin
ln -s iota link
quiet add keys native crlf run bin link
quiet propset svn:keywords "Id Rev Author Date URL Header Custom=%b,%r,%P,%_x" keys
quiet propset svn:eol-style native native
quiet propset svn:eol-style CRLF crlf
quiet propset svn:executable x run
quiet propset svn:mime-type application/octet-stream bin
quiet propset custom:prop "value
of two lines" iota
quiet propset svn:needs-lock x A/D/H/omega
quiet propset svn:ignore "*.tmp
ignored" .
quiet propset svn:global-ignores "*.gone" A
cd ..
by jo commit -m "Properties"                                                                 # 7

echo 8 >> trunk/A/D/H/chi
by ghost commit -m "The author gets lost"                                                    # 8
echo 9 >> trunk/A/D/H/psi
by jo commit -m "The date gets lost"                                                         # 9
echo 10 >> trunk/A/D/H/psi
by jo commit -m "A message with controls"                                                    # 10
svnadmin delrevprop "$ROOT/repo" -r 8 svn:author > "$ROOT/log"
svnadmin delrevprop "$ROOT/repo" -r 9 svn:date > "$ROOT/log"
printf 'bell \007, tab \t, CR \r end' > "$ROOT/message"
svnadmin setrevprop "$ROOT/repo" -r 10 svn:log "$ROOT/message" > "$ROOT/log"
printf '\000\001\377binary value that is long enough for several lines of base64 text, indeed' \
    > "$ROOT/message"
svnadmin setrevprop "$ROOT/repo" -r 10 custom:bin "$ROOT/message" > "$ROOT/log"
printf 'plain <value>' > "$ROOT/message"
svnadmin setrevprop "$ROOT/repo" -r 10 custom:text "$ROOT/message" > "$ROOT/log"

quiet update
quiet mv trunk/A/B trunk/A/B-moved
by jo commit -m "Move B"                                                                     # 11
quiet rm trunk/A/D/H/omega
by jo commit -m "Remove omega"                                                               # 12
quiet update
quiet merge "$here/branches/b1" trunk
by jo commit -m "Merge b1"                                                                   # 13
quiet update
mkdir trunk/ext
quiet add trunk/ext
quiet propset svn:externals "^/branches/b1/A/D dir-ext
-r4 ^/branches/b1/A/C pinned
^/trunk/iota@2 file-ext
../A/C 'with space'
^/nowhere broken" trunk/ext
head -c 12345 /dev/zero | tr '\0' x > trunk/ext/12k
head -c 2621440 /dev/zero | tr '\0' y > trunk/ext/2m
quiet add trunk/ext/12k trunk/ext/2m
by jo commit -m "Externals and larger files"                                                 # 14
quiet update --ignore-externals
by jo copy -m "Tag" -r 7 "$here/trunk" "$here/tags/1.0"                                      # 15
quiet update --ignore-externals
quiet rm trunk/A/D/G
quiet cp trunk/A/D/H trunk/A/D/G
echo 16 >> trunk/A/mu
quiet propset p v trunk/A
by jo commit -m "Replace the folder G"                                                       # 16
cd ..

# ---- working copies -----------------------------------------------------------------------------

quiet co --ignore-externals "$URL" clean
quiet co --ignore-externals -r 7 "$URL/trunk" old
quiet co --ignore-externals -r 6 "$URL/trunk" older

# Local changes of all kinds.
quiet co --ignore-externals "$URL/trunk" mods
cd mods
echo mod >> iota
echo mod >> keys
quiet propset new:prop x A/mu
echo mod >> native
quiet propset svn:eol-style LF native
echo new > new-file
quiet add new-file
mkdir -p new-dir/sub
echo x > new-dir/sub/file
quiet add new-dir
quiet propset p v new-dir
quiet rm A/D/H/chi
quiet rm A/B-moved/F
quiet rm --keep-local A/B-moved/lambda
rm A/D/H/psi
rm -r A/C
mkdir A/D/G.tmp
rm run; mkdir run
rm link; echo file > link
echo u > unversioned
mkdir unversioned-dir
echo u > unversioned-dir/x
echo i > ignored
echo i > x.tmp
echo i > A/D/x.gone
echo o > x.o
quiet cp A/B-moved/E copied
echo mod >> copied/alpha
quiet rm copied/beta
quiet cp "odd names" "odd copy"
quiet mv A/D/gamma moved-gamma
quiet mv "odd names/a b" "odd names/moved b"
echo mod >> "odd names/moved b"
quiet rm bin
echo replaced > bin
quiet add bin
quiet rm crlf
quiet cp iota crlf
quiet cp "$URL/branches/b1/A/mu@3" foreign
quiet changelist "first list" iota keys
quiet changelist zweite A/mu
cd ..

# Locks: ours, stolen, broken, of others.
quiet co --ignore-externals "$URL/trunk" locks
quiet co --ignore-externals "$URL/trunk" others
cd locks
jo lock -m "I work on it" iota
jo lock -m "Comment
of two lines" A/mu
jo lock A/D/H/chi "odd names/Ünïcödé.txt" native
cd ../others
jo lock --force -m "Stolen" A/mu
jo unlock --force A/D/H/chi
jo lock -m "Of another" keys
cd ..

# Conflicts.
quiet co --ignore-externals -r 1 "$URL/trunk" conflicts
cd conflicts
echo local >> iota
quiet propset custom:prop local iota
quiet propset custom:prop2 local A/mu
echo local >> A/mu
echo local >> A/D/gamma
echo local >> A/D/H/omega
echo local >> A/B/lambda
quiet rm A/D/H/psi
echo obstruction > keys
mkdir native
quiet add native
mkdir "odd names"
quiet mv A/D/H/chi chi-moved
quiet update --ignore-externals --accept postpone
cd ..
quiet co --ignore-externals "$URL/branches/b1" merged
cd merged
quiet rm A/D/H/psi
echo local >> A/D/H/chi
quiet propset custom:prop other iota
quiet merge --accept postpone "$URL/trunk" . > "$ROOT/log" 2>&1 || true
cd ..

# Sparse, switched, externals.
quiet co --ignore-externals --depth empty "$URL/trunk" sparse
cd sparse
quiet update --set-depth files A
quiet update --set-depth immediates A/D
quiet update iota
quiet update --set-depth exclude A/D/H
cd ..
quiet co --ignore-externals -r 14 "$URL/trunk" switched
cd switched
quiet switch --ignore-ancestry "$URL/branches/b1/A/C" A/C
quiet switch "$URL/branches/b1/iota" iota
quiet switch --ignore-ancestry "$URL/branches/b1/A/D@4" A/D
cd ..
quiet co "$URL/trunk/ext" ext > "$ROOT/log" 2>&1 || true
cd ext
echo mod >> dir-ext/gamma
echo mod >> file-ext
quiet update -r 3 dir-ext/H
cd ..

# Interrupted, and with a lock left behind.
quiet co --ignore-externals "$URL/trunk" locked
sqlite3 locked/.svn/wc.db "insert into wc_lock values (1, 'A', -1)"
quiet co --ignore-externals "$URL/trunk" incomplete
sqlite3 incomplete/.svn/wc.db "update nodes set presence='incomplete' where local_relpath='A/D'"

mkdir plain
echo x > plain/file

# Copies with and without changes, of old revisions and of copies; nodes in place of others.
mkdir -p trunk/A/B branches tags
printf 'one\ntwo\n' > trunk/A/file
seq 1 200 > trunk/A/B/long
echo other > trunk/other
svn add -q trunk branches tags
ci 'a beginning'
svn copy -q trunk branches/b1
ci 'a copy'
sed -i 's/^77$/seventy-seven/' trunk/A/B/long
svn propset -q p v trunk/A/file
ci 'a change'
svn copy -q trunk/A branches/A2
echo more >> branches/A2/file
svn propset -q q w branches/A2
svn delete -q branches/A2/B/long
ci 'a copy with changes in it'
svn copy -q $URL/trunk/A/B/long@1 trunk/old
echo end >> trunk/old
svn copy -q -r 1 $URL/trunk/other branches/other
ci 'copies of old revisions'
svn delete -q trunk/other
mkdir trunk/other
echo in > trunk/other/in
svn add -q trunk/other
ci 'a folder in place of a file'
svn delete -q branches/A2
svn copy -q trunk/other branches/A2
svn delete -q trunk/A/file
svn copy -q trunk/old trunk/A/file
ci 'copies in place of others'
svn delete -q trunk/A/B
echo file > trunk/A/B
svn add -q trunk/A/B
ci 'a file in place of a folder'
svn copy -q branches/b1 tags/t
svn copy -q trunk/A tags/t/again
svn delete -q tags/t/A/B
ci 'a copy in a copy'
svn copy -q trunk/A/file trunk/same
ci 'a copy of a copy'

# Properties of nodes and revisions, also such as cannot be set today; mergeinfo that leads nowhere.
mkdir trunk branches
echo text > trunk/file
svn add -q trunk branches
svn propset -q svn:ignore '*.o
*.a' trunk
svn propset -q svn:eol-style native trunk/file
svn propset -q bin "$(printf 'a\001\377b')" trunk/file
svn propset -q empty '' trunk/file
ci 'properties of new nodes'
svn propset -q svn:ignore '*.o' trunk
svn propdel -q empty trunk/file
svn propset -q Zz last trunk/file
ci 'properties of old nodes'
svn copy -q trunk branches/b
svn propset -q a:b c branches/b/file
svn propdel -q svn:ignore branches/b
svn propset -q svn:mergeinfo '/trunk:1-2
/branches/gone:1' branches/b
ci ''
echo more >> trunk/file
svn propset -q p "$(seq 1 100)" trunk/file
ci 'a text and a property
in lines'
svn propset -q svn:mergeinfo '/trunk:1-2,4
/branches/gone:1*' branches/b
svn propset -q svn:mergeinfo '/trunk/file:2-3' branches/b/file
svn propset -q p top .
ci 'mergeinfo'
echo x > trunk/crlf
svn add -q trunk/crlf
ci 'what had CRLF'
svn propdel -q p trunk/file
svn propdel -q p .
ci 'no properties'
svn propset -q svn:mergeinfo '/trunk:1-6' branches/b
ci 'more mergeinfo'
cd ..
printf '#!/bin/sh\n' > r/hooks/pre-revprop-change
chmod +x r/hooks/pre-revprop-change
svn propset -q --revprop -r 1 custom 'a
b' $URL
svn propset -q --revprop -r 1 bin "$(printf 'a\001\377b')" $URL
svn propdel -q --revprop -r 2 svn:author $URL
svn propdel -q --revprop -r 3 svn:date $URL
svn propset -q --revprop -r 4 svn:author '' $URL
printf 'K 7\nsvn:log\nV 7\na\r\nb\rc\n\nEND\n' > log
sed '/^K 7$/,$d' r/db/revprops/0/6 | cat - log > new
cat new > r/db/revprops/0/6
rm r/hooks/pre-revprop-change

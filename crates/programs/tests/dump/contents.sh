# Texts of all kinds, symbolic links, and odd names.
mkdir trunk 'trunk/odd names'
: > trunk/empty
printf 'no end' > trunk/noend
printf 'a\r\nb\r\n' > trunk/crlf
printf 'bin\0ary\377\n' > trunk/bin
seq 1 3000 | sed 's/$/ of many lines/' > trunk/long
seq 1 60000 | gzip -n > trunk/packed
ln -s long trunk/link
printf '#!/bin/sh\n' > trunk/tool
chmod +x trunk/tool
printf 'K 3\nkey\nPROPS-END\n\nNode-path: x\n' > 'trunk/odd names/like a dump'
echo x > 'trunk/odd names/ü € [x]@y'
echo x > 'trunk/odd names/ space '
echo x > 'trunk/odd names/%25#?&'
echo x > 'trunk/odd names/*'
svn add -q trunk
svn propset -q svn:mime-type application/octet-stream trunk/bin
ci 'many texts: ü'
sed -i '1500s/.*/in the middle/' trunk/long
printf 'bin\0arz\n' > trunk/bin
echo start > trunk/empty
seq 1 60001 | gzip -n > trunk/packed
ci 'changes'
ln -sf tool trunk/link
: > trunk/noend
printf 'x' >> trunk/crlf
ci 'a link elsewhere'
rm trunk/link
echo file > trunk/link
svn propdel -q svn:special trunk/link
svn propdel -q svn:executable trunk/tool
ci 'a link no more'
cp trunk/long trunk/long2
svn add -q trunk/long2
svn copy -q trunk/long trunk/long3
sed -i '2999s/.*/near the end/' trunk/long3
svn copy -q 'trunk/odd names' trunk/ö
ci 'the same again'
seq 4000 -1 1 > trunk/long
svn delete -q trunk/long2
ci 'another text'

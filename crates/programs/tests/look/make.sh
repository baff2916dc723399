# Fills the repository with what svnlook shows: odd names, all kinds of changes, locks, and a
# transaction that was not finished.
svn mkdir -qm "first
log" $URL/trunk $URL/branches "$URL/odd names" 
svn co -q $URL wc
cd wc
mkdir trunk/A trunk/A/B trunk/empty
printf 'one\ntwo\nthree\n' > trunk/A/file
printf 'a\r\nb\r\n' > trunk/crlf
printf 'no end' > trunk/noend
: > trunk/zero
printf 'bin\0ary' > trunk/bin
printf 'x\n' > 'odd names/ü € [x]@y'
printf 'x\n' > 'odd names/ space '
printf 'x\n' > 'odd names/%25#?&'
for i in 1 2 3 4 5 6 7 8 9; do echo "line $i"; done > trunk/A/B/nine
svn add -q trunk/* 'odd names/ü € [x]@y@' 'odd names/ space ' 'odd names/%25#?&'
svn ps -q svn:eol-style CRLF trunk/crlf
svn ps -q prop 'one
two' trunk/A
svn ps -q svn:ignore '*.o
*.a' trunk
svn ps -q svn:mergeinfo '/branches/x:1' trunk
svn ps -q bin "$(printf 'a\001b')" trunk/A/file
svn ps -q inherit 'from root' .
svn ps -q inherit 'from trunk' trunk
svn ci -qm "second: ü"
svn up -q
echo four >> trunk/A/file
svn ps -q prop 'one
three' trunk/A
svn pd -q bin trunk/A/file
printf 'bin\0arz' > trunk/bin
svn rm -q trunk/noend
svn ci -qm ''
svn up -q
svn cp -q trunk branches/b1
echo five >> branches/b1/A/file
svn rm -q branches/b1/A/B/nine
svn mv -q branches/b1/crlf branches/b1/crlf2
printf 'a\r\nB\r\n' > branches/b1/crlf2
svn ps -q svn:mergeinfo '/branches/x:1,3-4
/trunk:2-3' branches/b1
svn ps -q new 1 branches/b1/A
svn cp -q trunk/A/file branches/copied
svn ci -qm "copy"
svn up -q
svn rm -q trunk/A/file
mkdir trunk/A/file; echo in > trunk/A/file/in; svn add -q trunk/A/file
svn rm -q trunk/empty
svn cp -q -r2 trunk/A trunk/oldA
svn rm -q trunk/oldA/file; svn cp -q $URL/trunk/A/B/nine@2 trunk/oldA/file
svn rm -q trunk/zero
printf 'six' > trunk/six
svn add -q trunk/six
svn ps -q --force svn:mime-type image/png trunk/six
svn ci -qm "replace"
svn up -q
svn ps -q svn:mime-type text/plain trunk/bin; echo text > trunk/bin; svn ci -qm "no longer binary"
svn up -q; sed -i 's/line 5/line  5/; s/line 9/LINE 9/' trunk/A/B/nine; svn ci -qm ws
svn up -q; svn mv -q trunk/A trunk/A2; svn ci -qm mv ; svn up -q; svn mv -q trunk/A2 trunk/A; svn ci -qm mv ; svn up -q
cd ..
printf '#!/bin/sh\n' > repo/hooks/pre-revprop-change; chmod +x repo/hooks/pre-revprop-change
svn ps -q svn:author --revprop -r1 '' $URL
svn pd -q --revprop -r2 svn:author $URL
svn pd -q --revprop -r2 svn:date $URL
svn ps -q --revprop -r3 custom 'a
b' $URL
printf 'K 7\nsvn:log\nV 8\na\r\nb\rc\n\nEND\n' > m
sed '/^K 7$/,$d' repo/db/revprops/0/3 > n; cat n m > repo/db/revprops/0/3
svn lock -q -m "why
not" wc/trunk/A/B/nine; svn lock -q wc/trunk/six
printf '#!/bin/sh\nmkdir -p $1/saved; cp -a $1/db/transactions $1/db/txn-protorevs $1/saved/; exit 1\n' > repo/hooks/pre-commit; chmod +x repo/hooks/pre-commit
cd wc
echo seven >> trunk/A/B/nine; svn ps -q txnprop v trunk/A; svn cp -q trunk/A/B trunk/copyB; echo eight >> trunk/copyB/nine; svn rm -q branches/copied; echo new > trunk/new; svn add -q trunk/new; svn ps -q inherit deep trunk/A/B
svn ci -qm "never done" --no-unlock 2>/dev/null || true
cd ..
cp -a repo/saved/* repo/db/
rm repo/hooks/pre-commit
printf '#!/bin/sh\nfor a; do case "$a" in /*) cat "$a";; *) echo "[$a]";; esac; done; echo err >&2; exit 1\n' > echo.sh
printf '#!/bin/sh\nexit 3\n' > fail.sh
chmod +x echo.sh fail.sh

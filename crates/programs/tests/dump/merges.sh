# Branches that are merged both ways.
mkdir -p trunk/src branches tags
seq 1 30 > trunk/src/a
seq 1 30 > trunk/src/b
svn add -q trunk branches tags
ci begin
svn copy -q trunk branches/x
ci 'branch x'
sed -i 's/^3$/three/' trunk/src/a
ci 'on trunk'
sed -i 's/^28$/twenty-eight/' branches/x/src/a
echo c > branches/x/src/c
svn add -q branches/x/src/c
ci 'on x'
svn merge -q --non-interactive ^/trunk branches/x
ci 'trunk into x'
svn copy -q branches/x branches/y
ci 'branch y'
svn delete -q branches/y/src/b
ci 'on y'
svn merge -q --non-interactive ^/branches/x trunk
ci 'x into trunk'
svn merge -q --non-interactive -c 7 ^/branches/y trunk
ci 'one of y'
svn delete -q branches/x
svn copy -q trunk tags/1.0
ci 'a tag'
svn merge -q --non-interactive --record-only -c 8 ^/trunk branches/y
ci 'only the record'

# Moves, deletions, and what comes back.
mkdir -p trunk/A/B/C trunk/D
echo 1 > trunk/A/f
echo 2 > trunk/A/B/g
echo 3 > trunk/A/B/C/h
echo 4 > trunk/D/i
svn add -q trunk
ci begin
svn move -q trunk/A/f trunk/A/f2
ci 'a file moves'
svn move -q trunk/A/B trunk/D/B
echo 22 >> trunk/D/B/g
svn move -q trunk/D/B/C trunk/C
ci 'folders move'
svn delete -q trunk/D
ci 'a deletion'
svn copy -q $URL/trunk/D@3 trunk/D
ci 'it comes back'
svn move -q trunk/A trunk/tmp
svn move -q trunk/D trunk/A
svn move -q trunk/tmp trunk/D
ci 'two change places'
mkdir trunk/A/new
echo n > trunk/A/new/n
svn add -q trunk/A/new
svn delete -q trunk/C
ci 'more'
svn move -q trunk main
echo 5 >> main/D/f2
ci 'the top moves'
svn delete -q main
ci 'all is gone'
mkdir trunk
echo new > trunk/new
svn add -q trunk
ci 'and begins again'

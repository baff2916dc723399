//! Histories with all that logs and blames can meet.

use sylvan_testutil::Sandbox;

/// Branches, merges of merges, reverse merges, copies of folders and files, moves, replacements,
/// properties, a path that comes and goes.
const SCRIPT: &str = r#"
# Each edit changes the size of its file.
export SVN_I_LOVE_CORRUPTED_WORKING_COPIES_SO_DISABLE_SLEEP_FOR_TIMESTAMPS=yes
ci() { svn commit -q --username "${who:-alice}" -m "$1" wc; svn update -q wc; }
svn checkout -q $URL wc
cd wc; mkdir -p trunk/dir/sub branches tags
printf '1\n2\n3\n4\n5\n6\n7\n8\n9\n' >trunk/f; printf 'a\nb\nc\n' >trunk/dir/g; echo x >trunk/dir/sub/h
svn add -q trunk branches tags; cd ..; ci 'layout'
svn copy -q wc/trunk wc/branches/a; ci 'branch a'
printf '1\n2\n3 trunk\n4\n5\n6\n7\n8\n9\n' >wc/trunk/f; who=bob ci 'edit f on trunk'
printf '1\n2\n3\n4\n5\n6\n7\n8\n9 a\n' >wc/branches/a/f; ci 'edit f on a'
printf 'a\nb on a\nc\n' >wc/branches/a/dir/g; svn propset -q color red wc/branches/a/dir/g; ci 'edit g on a'
svn copy -q wc/branches/a wc/branches/b; printf '1\n2\n3\n4\n5 b\n6\n7\n8\n9 a\n' >wc/branches/b/f; ci 'branch b with a change'
svn propset -q svn:ignore '*.o' wc/trunk/dir; ci 'a property of a folder'
(cd wc/branches/a; svn merge -q ^/trunk); ci 'merge trunk to a'
(cd wc/branches/b; svn merge -q ^/branches/a); ci 'merge a to b'
printf '1 b\n2\n3 trunk\n4\n5 b\n6\n7\n8\n9 a\n' >wc/branches/b/f; ci 'edit f on b'
(cd wc/trunk; svn merge -q ^/branches/b); who=carol ci 'merge b to trunk'
(cd wc/trunk; svn merge -q -c -11 ^/trunk .) ; ci 'take that back'
svn move -q wc/trunk/dir/g wc/trunk/dir/g2; echo more >>wc/trunk/dir/g2; ci 'move g'
svn delete -q wc/trunk/dir/sub; ci 'delete sub'
svn copy -q ^/trunk/dir/sub@13 wc/trunk/dir/sub 2>/dev/null || svn copy -q $URL/trunk/dir/sub@13 wc/trunk/dir/sub; echo y >>wc/trunk/dir/sub/h; ci 'bring sub back'
svn delete -q wc/trunk/dir/sub/h; echo new >wc/trunk/dir/sub/h; svn add -q wc/trunk/dir/sub/h; ci 'replace h'
svn move -q $URL/branches/a $URL/branches/c -m 'move a branch'; svn update -q wc
printf '0\n1\n2\n3 trunk\n4\n5\n6\n7\n8\n9 a\n' >wc/branches/c/f; ci 'edit f on c'
(cd wc/trunk; svn merge -q --record-only -c 10 ^/branches/b); ci 'record one'
(cd wc/trunk; svn merge -q ^/branches/c --accept mine-full 2>/dev/null >/dev/null || true; svn resolve -q -R --accept working . >/dev/null 2>&1 || true); ci 'merge c to trunk'
svn propset -q svn:mergeinfo '/branches/c/dir:2-18' wc/trunk/dir; ci 'mergeinfo of a folder below'
svn copy -q wc/trunk wc/tags/one; ci 'a tag'
svn propdel -q svn:mergeinfo wc/trunk/dir; ci 'mergeinfo goes'
svn propset -q --force svn:mergeinfo 'broken' wc/trunk/dir 2>/dev/null || true; echo z >>wc/trunk/f; ci 'edit f'
svn delete -q wc/trunk/f; svn copy -q $URL/branches/c/f@18 wc/trunk/f; ci 'replace f by that of c'
mkdir wc/trunk/'sp ace'; echo q >wc/trunk/'sp ace'/'ä%20.txt'; svn add -q wc/trunk/'sp ace'; svn propset -q --revprop -r HEAD x y wc 2>/dev/null || true; ci 'odd names'
svn copy -q wc/tags/one wc/tags/two; svn delete -q wc/tags/two/f; svn copy -q wc/trunk/f wc/tags/two/ff; ci 'a mixed tag'
svn delete -q wc/tags/one; ci 'delete the tag'
svn copy -q $URL/trunk@5 $URL/tags/one -m 'another one there'; svn update -q wc
(cd wc/branches/c; svn merge -q ^/trunk --accept mine-full >/dev/null 2>&1 || true; svn resolve -q -R --accept working . >/dev/null 2>&1 || true); ci 'merge trunk to c'
"#;

/// Makes the repository `repo` of a version of Subversion with the history.
pub(crate) fn make(sandbox: &Sandbox, create: &str) {
    sandbox.sh(&format!(
        "rm -rf repo wc; svnadmin create {create} repo
        printf '#!/bin/sh\\nexit 0\\n' >repo/hooks/pre-revprop-change; chmod +x repo/hooks/pre-revprop-change
        {SCRIPT}"
    ));
}

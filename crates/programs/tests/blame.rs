//! `svn blame` beside Debian's.

use crate::twin::{pair, script};

/// A file with many kinds of history, and a branch that was merged back.
const MAKE: &str = r#"
svn checkout -q "$URL" wc; cd wc
svn mkdir -q trunk; printf 'one\ntwo\nthree\nfour\nfive\n' > trunk/f; svn add -q trunk/f
svn commit -qm1 --username ann; svn copy -q trunk branch; svn commit -qm2
sed -i s/two/TWO/ branch/f; svn commit -qm3 --username a-very-long-name
sed -i s/four/FOUR/ branch/f; svn commit -qm4 --username jürgen; svn update -q
sed -i s/five/5/ trunk/f; svn commit -qm5; svn update -q
svn merge -q "^/branch" trunk; svn commit -qm6; svn update -q
printf 'six\r\nseven\reight\n' >> trunk/f; svn commit -qm7
sed -i 's/six/  six/' trunk/f; svn commit -qm8; svn move -q trunk/f trunk/g; svn commit -qm9
printf 'gr\374n\nno end' >> trunk/g; svn commit -qm10; sed -i 1,2d trunk/g; svn commit -qm11
printf 'a\0b\nc\n' > bin; svn add -q bin; svn propset -q svn:mime-type image/png bin
printf '$Rev$\r\nx\r\n' > keys; svn add -q keys; svn propset -q svn:keywords Rev keys
svn propset -q svn:eol-style CRLF keys; svn commit -qm12; svn update -q
svn propdel -q svn:author --revprop -r 8; svn propdel -q svn:date --revprop -r 7
touch empty; svn add -q empty; svn commit -qm13; svn update -q; mkdir dir; svn add -q dir
cd ..
"#;

/// Both programs run what follows on it, at `$AT` from within the working copy.
const ASK: &str = r#"
mask() { sed -E 's/20[0-9]{2}-[0-9]{2}-[0-9]{2}[^<]*(\([A-Z][^)]*\)|Z)/DATE/'; }
for args in "" -v --xml "-r 3" "-r 3:7" "-r 12:1" "-r 12:6 --xml" "-r 7:8" "-x -b" "-x -w" \
  "-x --ignore-eol-style" -g "-g -v" "-g --xml" "-g -r 5:9" "-g -r 7:13 -v"; do
  echo "== $args"; $S blame $args $AT/trunk/g 2>&1 | mask
done
"#;

#[test]
fn lines_are_blamed_as_by_subversion() {
    let pair = pair();
    let hook = "ln -s /bin/true repo/hooks/pre-revprop-change\n";
    script(&pair, &format!("{hook}{MAKE}"));
    script(&pair, &format!("cd wc; AT=.\n{ASK}"));
    script(&pair, &format!("cd wc; AT=$URL\n{ASK}"));
    let tunnel = "printf 'shift\\nexec \"$@\"\\n' > run; export SVN_SSH=\"sh $PWD/run\"";
    script(
        &pair,
        &format!("{tunnel}; cd wc; AT=svn+ssh://localhost$PWD/../repo\n{ASK}"),
    );
}

#[test]
fn blame_of_odd_targets() {
    let pair = pair();
    let hook = "ln -s /bin/true repo/hooks/pre-revprop-change\n";
    script(&pair, &format!("{hook}{MAKE}"));
    script(
        &pair,
        r#"cd wc; for t in bin keys empty dir trunk none trunk/f@7 trunk/f@8 "$URL/trunk/f@7" \
           "$URL/trunk@7" trunk/g@BASE trunk/g@PREV; do
           for args in "" --force --xml "--xml --incremental" --incremental "--xml -v" \
             "-r 1:2" "-r 2:1" "-r BASE:1" "-x -Z" "-x -u"; do
             echo "== $args $t"; $S blame $args "$t" 2>&1; echo $?
           done; done | sed -E 's/<date>.*<.date>/DATE/'
           $S blame; $S blame --xml keys none bin | sed -E 's/<date>.*<.date>/DATE/'
           $S annotate keys bin none empty"#,
    );
    script(
        &pair,
        r#"cd wc; printf 'new\n' >> trunk/g; sed -i 1s/.*/changed/ trunk/g; printf 'y\r\n' >> keys
           svn update -q -r 12 trunk
           for args in "" -v -g "-r BASE" "-r WORKING" "-r 8:WORKING" --xml; do
             $S blame $args trunk/g keys 2>&1 | sed -E 's/20[0-9-]{8}[^<]*(\([A-Z][^)]*\)|Z)/DATE/'
           done; rm keys; $S blame keys 2>&1"#,
    );
}

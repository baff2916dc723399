//! `svn diff` beside Debian's.

use crate::twin::{pair, script};

/// A tree with some history, a branch, and local changes of all kinds.
const MAKE: &str = r#"
svn checkout -q "$URL" wc; cd wc
svn mkdir -q trunk trunk/d; seq 1 60 > trunk/f; seq 1 9 > trunk/d/g; printf 'a\r\nb\r\n' > trunk/crlf
printf 'no end' > trunk/end; printf 'x\0y' > trunk/bin; ln -s f trunk/link; : > trunk/empty
printf '$Rev$\nint main() {\n  return 0;\n}\n' > trunk/k.c
svn add -q trunk/* --force; svn propset -q svn:mime-type application/x-y trunk/bin
svn propset -q svn:keywords Rev trunk/k.c; svn propset -q p 'one
two' trunk/f; svn propset -q svn:mergeinfo /b:1-3 trunk; svn commit -qm1; svn update -q
sed -i 's/^5$/five/; s/^50$/  50/' trunk/f; svn propset -q svn:mergeinfo '/b:1-3,7
/c:2' trunk; svn propset -q p 'one
three' trunk/f; echo ten >> trunk/d/g; svn commit -qm2; svn update -q
svn copy -q trunk branch; sed -i 's/return 0/return  1/' branch/k.c; svn rm -q branch/d
svn commit -qm3; svn update -q; printf 'x\0z\n' > trunk/bin; echo more >> trunk/empty
printf ' and more' >> trunk/end; svn commit -qm4; svn update -q
"#;

/// Local changes.
const CHANGE: &str = r#"
sed -i 's/^20$/twenty/; s/^40$/40 /' trunk/f; svn propdel -q p trunk/f; printf 'new\n' > trunk/n
svn add -q trunk/n; svn propset -q q v trunk/n; svn rm -q trunk/d/g; svn move -q trunk/end trunk/e2
svn copy -q trunk/k.c trunk/k2.c; sed -i 's/main/main2/' trunk/k2.c; ln -sf k.c trunk/link
svn copy -q branch trunk/copied; echo z >> trunk/copied/f; printf 'a\r\nB\r\n' > trunk/crlf
printf 'q\0' > trunk/bin; svn rm -q trunk/empty; echo other > trunk/empty; svn add -q trunk/empty
svn propset -q svn:mergeinfo '/b:1-5' trunk; svn changelist -q mine trunk/f trunk/n
printf 'gone\n' > trunk/gone; svn add -q trunk/gone; rm trunk/gone
"#;

/// Takes times and processes out of what differs.
const MASK: &str =
    "mask() { sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[^<\"]*Z/DATE/; s/svn-[A-Za-z0-9]*$/TEMP/'; }\n";

#[test]
fn working_copies_differ_as_for_subversion() {
    let pair = pair();
    script(&pair, &format!("{MAKE}{CHANGE}"));
    script(
        &pair,
        &format!(
            r#"{MASK} cd wc
for args in "" --git --summarize --patch-compatible --show-copies-as-adds \
  "--git --show-copies-as-adds" --notice-ancestry --no-diff-added --no-diff-deleted \
  --ignore-properties --properties-only "--changelist mine" "--depth files" "--depth empty" --force \
  "-x -b" "-x -w" "-x -u -x -p" "-x -U0" "-x -p" "-x --ignore-eol-style" "-r 1" \
  "-r PREV" "-c 2" "-r 1 --git" "-r 1 --summarize" "-r HEAD --show-copies-as-adds" "-x -Z" \
  "-r COMMITTED --git --notice-ancestry"; do
  for at in . trunk trunk/f; do
    # Debian's looks for the sources of copies below the target there.
    case "$args $at" in "--git trunk") continue;; esac
    echo "== $args $at"; $S diff $args $at 2>&1 | mask
  done
done
for at in . trunk trunk/f; do $S diff --summarize --xml $at | tr '> ' '\n\n' | sort; done
for args in "-r 2:BASE" "-r BASE:3" "-r BASE" "-r 1:BASE --git"; do $S diff $args trunk/f; done"#
        ),
    );
}

#[test]
fn revisions_differ_as_for_subversion() {
    let pair = pair();
    script(&pair, &format!("{MAKE}{CHANGE}"));
    let ask = |at: &str, prepare: &str| {
        format!(
            r#"{MASK} cd wc; {prepare} AT={at}
for args in "-r 1:HEAD" "-c 3" "-c 2,4" "-r 1:3 --git" "-r 1:4 --summarize" \
  "-r 1:4 --ignore-properties" "-r 1:4 --properties-only" \
  "-r 1:4 --no-diff-added" "-r 1:2 --depth files" "-r 1:4 --force" \
  "-r 2:3 --show-copies-as-adds" "-r 0:1" "-r 3:9"; do
  echo "== $args"; $S diff $args $AT 2>&1 | sed "s|$AT|AT|g" | mask
done
# The order of what is in a deleted folder, and of attributes, is that of a hash table.
for args in "-r HEAD:1" "-c -3" "-r 4:1 --no-diff-deleted" "-r 4:1 --git"; do
  echo "== $args"; $S diff $args $AT 2>&1 | sed "s|$AT|AT|g" | mask | sort
done
$S diff -r 4:1 --summarize --xml $AT | sed "s|$AT|AT|g" | tr '> ' '\n\n' | sort
for args in "" --git --summarize --notice-ancestry "--notice-ancestry --git" "-x -w"; do
  echo "== $args"
  $S diff $args --old $AT/trunk@2 --new $AT/branch 2>&1 | sed "s|$AT|AT|g" | mask
  $S diff $args --old $AT --new $AT d k.c 2>&1 | sed "s|$AT|AT|g" | mask
  $S diff $args $AT/trunk/f@1 $AT/branch/f 2>&1 | sed "s|$AT|AT|g" | mask
  $S diff $args --old $AT/branch --new trunk 2>&1 | sed "s|$AT|AT|g" | mask
  $S diff $args --old trunk@1 --new $AT/branch@3 2>&1 | sed "s|$AT|AT|g" | mask
done"#
        )
    };
    script(&pair, &ask("$URL", ""));
    let tunnel = "printf 'shift\\nexec \"$@\"\\n' > ../run; export SVN_SSH=\"sh $PWD/../run\"\n";
    script(&pair, &ask("svn+ssh://localhost$PWD/../repo", tunnel));
}

#[test]
fn two_places_and_other_programs() {
    let pair = pair();
    script(&pair, &format!("{MAKE}{CHANGE}"));
    script(
        &pair,
        &format!(
            r#"{MASK} cd wc; printf '#!/bin/sh\nshift $(($#-7)); echo "$1 $2 $3 $4 $5"; cat "$7"\n' > ../cmp
chmod +x ../cmp; $S diff --diff-cmd ../cmp trunk/f trunk/n | mask; $S diff --diff-cmd cat -x -x trunk/k.c
$S diff --diff-cmd ../cmp -x "-a -b" -r 1:2 $URL/trunk/f | mask
$S diff --config-option config:helpers:diff-cmd=false --internal-diff trunk/f
$S diff --config-option config:helpers:diff-extensions=-w trunk/f
$S diff trunk/f branch/f; $S diff trunk/none; $S diff trunk@9; $S diff --old trunk/d --new branch/d
$S diff --summarize trunk branch; $S diff --old branch --new trunk --git; $S diff --xml trunk
$S diff trunk/f none; $S diff -c 0 trunk; $S diff -r 1:2:3; $S diff --git --summarize trunk/f
$S diff --no-diff-added --properties-only trunk; $S diff --ignore-properties --properties-only trunk"#
        ),
    );
}

/// Debian's fails here.
#[test]
fn the_source_of_a_moved_target_is_named_whole() {
    let pair = pair();
    script(&pair, MAKE);
    let wc = pair.ours().join("wc");
    pair.run_ours_in(&wc, &["move", "-q", "trunk/d/g", "trunk/h"])
        .success();
    for target in ["trunk/h", "trunk", "."] {
        let diff = pair.run_ours_in(&wc, &["diff", "--git", target]).success();
        assert!(
            diff.stdout
                .contains("\nrename from trunk/d/g\nrename to trunk/h\n"),
            "{}",
            diff.stdout
        );
    }
}

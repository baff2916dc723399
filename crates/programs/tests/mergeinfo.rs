//! `svn mergeinfo --show-revs` beside Debian's.

use crate::twin::{pair, script};

/// A branch with merges in both directions, one of them in part.
const MAKE: &str = r#"
svn checkout -q "$URL" wc; cd wc; svn mkdir -q trunk trunk/d; echo 1 > trunk/f; echo 1 > trunk/d/g
svn add -q trunk/f trunk/d/g; svn commit -qm1; svn copy -q trunk branch; svn commit -qm2
for n in 3 4 5; do echo $n >> trunk/f; svn commit -qm$n; done
echo 6 >> trunk/d/g; svn commit -qm6; echo 7 >> trunk/d/g; echo 7 >> trunk/f; svn commit -qm7
svn update -q; svn merge -q -c 4 --accept mine-full "^/trunk" branch; svn commit -qm8; svn update -q
svn merge -q -c 6 "^/trunk/d" branch/d; svn commit -qm9; svn update -q
svn merge -q -c 7 --depth files --accept mine-full "^/trunk" branch; svn commit -qm10; svn update -q
svn copy -q trunk/d trunk/e; svn commit -qm11; echo b > branch/b; svn add -q branch/b; svn commit -qm12
svn update -q; cd ..
"#;

#[test]
fn merged_and_eligible_revisions_are_those_of_subversion() {
    let pair = pair();
    script(&pair, MAKE);
    script(
        &pair,
        r#"cd wc; for which in merged eligible; do for more in "" -R "--depth empty" "-r 3:6" "-r 6:3" \
             "-r HEAD" "--log" "--log -v -R" "--log -q --incremental"; do
             for places in "$URL/trunk branch" "$URL/branch trunk" "^/trunk@5 $URL/branch" \
               "$URL/trunk@HEAD branch/d" "$URL/trunk/d branch/d" "trunk branch" "$URL/trunk/e branch"; do
               echo "== $which $more $places"
               $S mergeinfo --show-revs $which $more $places 2>&1 |
                 sed -E 's/\| 20[0-9-]{8}[^)]*\)/DATE/'
             done; done; done
           cd branch; $S mergeinfo --show-revs eligible "^/trunk"
           for bad in "" "a b c" "^/trunk -q" "^/trunk -v" "^/trunk --incremental" "^/trunk -r 1" \
             "^/trunk --depth files" "^/trunk --log" "^/trunk --show-revs merged --depth files" \
             "^/trunk --show-revs merged -r BASE" "^/none --show-revs merged" \
             "^/trunk none --show-revs eligible" "^/trunk --show-revs other"; do
             echo "== $bad"; $S mergeinfo $bad 2>&1; done"#,
    );
}

#[test]
fn summaries_are_drawn_as_by_subversion() {
    let pair = pair();
    script(&pair, MAKE);
    let ask = r#"cd wc; for places in "$URL/trunk branch" "$URL/branch trunk" "^/trunk@5 $URL/branch" \
        "trunk $URL/branch@8" "$URL/trunk branch@8" "^/trunk/f ^/branch/b" "^/trunk trunk" \
        "^/trunk ^/branch@2" "^/trunk/d branch/d"; do
          echo "== $places"; $S mergeinfo $places 2>&1; done
        cd trunk; $S mergeinfo "^/branch" 2>&1"#;
    script(&pair, ask);
    script(
        &pair,
        "cd wc; svn copy -q branch local; svn move -q trunk/d moved; svn mkdir -q new
         for which in '' '--show-revs merged' '--show-revs eligible -R'; do
           for place in local moved new; do $S mergeinfo $which ^/trunk $place 2>&1; done; done
         svn revert -qR . --remove-added",
    );
    script(
        &pair,
        "cd wc; svn merge -q '^/trunk' branch --accept mine-full; svn commit -qm13; svn update -q",
    );
    script(&pair, ask);
    script(
        &pair,
        "cd wc; svn merge -q '^/branch' trunk --accept mine-full; svn commit -qm14; svn update -q",
    );
    script(&pair, ask);
}

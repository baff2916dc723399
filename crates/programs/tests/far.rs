//! What is done in a working copy that is far away: with many threads, and few questions to the disk
//! and the database, also where a local disk would not be worth it.

use crate::twin::{pair, script};

/// Three folders of a dozen files, in two revisions, of which the working copy has the first.
const MAKE: &str = r#"
export SYLVAN_WORKERS=16; svn checkout -q "$URL" wc; cd wc; mkdir a a/b c
for d in a a/b c; do for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
  printf '$Rev$\n%s %s\n' $d $n > $d/f$n; done; done
svn add -q a c; svn propset -q svn:keywords Rev a/f1 a/b/f1; svn propset -q svn:needs-lock x c/f3
svn propset -q svn:executable x c/f4; svn commit -qm1; svn update -q
for d in a a/b c; do for n in 1 2 3 4 5 6 7 8; do echo two >> $d/f$n; done; done
cp c/f2 a/f7; svn rm -q c/f9; svn mv -q c/f10 a/moved; svn propset -q p v c/f11; svn commit -qm2
$S update -qr1; cat "$(svn info --show-item wc-root)/a/f1"
"#;

/// Shows all that can be compared.
const SHOW: &str = r#"
show() {
  $S status -v; svn status -u | sort; find . -path ./.svn -prune -o -print | sort
  find . -path ./.svn -prune -o -type f -printf '%m %p\n' | sort; cat a/f* a/b/f* c/f*
}
"#;

#[test]
fn updates_of_many_files() {
    let pair = pair();
    script(
        &pair,
        &format!(
            r#"{MAKE}{SHOW} echo mine >> a/f3; printf 'other\n' > c/f5; touch a/f4 a/b/f4; rm a/f12
rm -r a/b; chmod -w c/f6; $S update --accept postpone | sort; show; $S update | sort
$S update -r1 --accept postpone | sort; show; rm -r c a/f2; $S update -r2 c a | sort; show"#
        ),
    );
}

#[test]
fn reverts_and_cleanups_of_many_files() {
    let pair = pair();
    script(
        &pair,
        &format!(
            r#"{MAKE}{SHOW} for f in a/f* a/b/f* c/f5; do echo x >> $f; done; svn rm -q c/f1; rm a/b/f2
touch c/f6 c/f7; echo y > c/f8; svn propset -q p v a/f1; ln -sf f1 c/f12; $S revert -R . | sort; show
touch a/f* c/f*; mkdir -p c/sub/x; echo z > c/sub/x/y; $S cleanup; $S cleanup --remove-unversioned | sort
show; rm -r a; $S revert -R a | sort; show"#
        ),
    );
}

#[test]
fn commits_of_many_targets() {
    let pair = pair();
    script(
        &pair,
        &format!(
            r#"{MAKE}{SHOW} $S update -q; for f in a/f1 a/f2 a/b/f3 c/f4 c/f5; do echo x >> $f; done
svn checkout -q "$URL/c" a/b/nested; echo n >> a/b/nested/f6; rm c/f7; ln -s a/b link
$S commit -qm3 a/f1 a/b/f3 . c/f4; $S commit -qm4 a/f2 a/b/f3; $S commit -m5 c/f4 c/f5 c/f7 2>&1
$S commit -qm6 c/f4 c/f5; $S commit -m7 a/f1 a/b/nested/f6 2>&1; $S commit -m8 a/f1 link/f3 2>&1 | sed s/link.*//
svn update -q; show; svnlook youngest ../repo"#
        ),
    );
}

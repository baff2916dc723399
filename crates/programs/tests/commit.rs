//! `svn commit` beside Debian's svn, over `file://`.

use crate::twin::{assert_same_repositories, assert_same_wc, pair, script};

/// A working copy with a few files of every kind, committed by Debian's svn.
const START: &str = "svn checkout -q $URL wc; cd wc
    mkdir -p A/B/C; echo one > A/one; echo two > A/B/two; echo 'kw $Rev$' > A/kw
    printf 'x\\0y' > bin; ln -s A/one link; echo ex > run; chmod +x run
    svn add -q A bin link run
    svn ps -q svn:keywords 'Rev' A/kw; svn ps -q svn:eol-style native A/B/two
    svn ps -q p v A; svn ps -q svn:needs-lock 1 A/one
    svn commit -qm start; svn up -q\n";

/// Runs a script after [`START`] in both folders; repositories and working copies must be the same
/// then.
fn same(text: &str) -> String {
    let pair = pair();
    let said = script(&pair, &format!("{START}{text}"));
    assert_same_repositories(&pair);
    assert_same_wc(&pair, "wc");
    said
}

#[test]
fn additions_of_every_kind() {
    let pair = pair();
    let text = START.replace("svn commit -qm", "$S commit -m");
    script(&pair, &text);
    assert_same_repositories(&pair);
    assert_same_wc(&pair, "wc");
}

#[test]
fn modifications_and_deletions() {
    let said = same(
        "chmod u+w A/one; echo m >> A/one; echo mm >> A/kw; svn ps -q p w A/B; svn rm -q A/B/two
         svn pd -q p A; $S commit -m second; $S commit -m nothing
         rm bin; $S commit -m missing; svn up -q; echo binary > bin; $S commit -q -m quiet",
    );
    assert!(said.contains("Transmitting file data .."), "{said}");
}

#[test]
fn copies_moves_and_replacements() {
    same(
        "svn cp -q A D; echo z > D/kw; svn rm -q D/B; svn mv -q A/kw A/kw2; $S commit -m copy .
         svn up -q; svn mv -q A E; svn mv -q E/B F; echo ff > E/new; svn add -q E/new
         $S commit -m moves; svn up -q
         svn rm -q D; mkdir D; echo D > D/x; svn add -q D; $S commit -m replaced
         svn rm -q run; svn cp -q bin run; echo more >> run; $S commit -m copied-over
         svn up -q; svn cp -q E G; svn cp -q F G/F; svn rm -q G/F/C; svn cp -q D/x G/one2
         $S commit -m in-copies",
    );
}

#[test]
fn mixed_revisions_in_copies() {
    same(
        "echo 1 >> A/kw; svn commit -qm r2; svn rm -q A/B/two; svn commit -qm r3
         svn cp -q A H; $S commit -m mixed; svn up -q -r1 A/B; svn cp -q A I; svn rm -q I/kw
         $S commit -m mixed-too",
    );
}

#[test]
fn parts_by_target_depth_and_changelist() {
    same(
        "for f in A/kw A/B/two bin run; do echo edit >> $f; done; svn ps -q x y .
         $S commit -m one A/kw; $S commit -m empty -N .; $S commit -m files --depth files .
         svn cl -q CL A/B/two; $S commit -m none --cl OTHER; $S commit -m cl --cl CL
         cd A; echo e >> kw; echo f >> ../bin; $S commit -m two kw ../bin; cd ..
         svn cl -q CL run bin; echo f >> bin; echo g >> run
         $S commit -m keep --keep-changelists bin; $S commit -m drop
         svn mkdir -q N; touch N/f; svn add -q N/f; $S commit -m child N/f; $S commit -m both N N/f
         svn cp -q A/B K; $S commit -m depth --depth empty K
         echo a > list; echo run > list; echo t >> run; $S commit -m targets --targets list",
    );
}

#[test]
fn locks() {
    same(
        "svn lock -q bin run A/one; echo g >> run; $S commit -m keep --no-unlock run
         echo g >> run; echo h >> A/one; $S commit -m give; svn lock -q bin A/one
         svn rm -q --force A; $S commit -m deleted",
    );
}

#[test]
fn refusals_in_subversions_words() {
    same(
        "svn checkout -q $URL other; echo o >> other/bin; svn rm -q other/A/B; svn commit -qm o other
         rm -rf other
         echo p >> bin; $S commit -m out-of-date; svn ps -q p x A/B; $S commit -m dir A/B
         svn up -q --accept postpone; $S commit -m conflict; svn revert -qR .; svn up -q
         $S commit -m none nowhere; $S commit -m url $URL; $S commit -m outside /
         touch unversioned; $S commit -m unversioned unversioned
         svn mkdir -q P; rmdir P; $S commit -m missing; svn revert -q P
         svn mv -q run walk; $S commit -m half walk; $S commit -m half run; svn revert -qR run walk
         rm -f walk; rm link; mkdir link; $S commit -m obstructed; rmdir link
         svn revert -q link; echo x >> bin; $S commit -m bin --with-revprop svn:log=x
         $S commit; $S commit -m bin bin; printf 'a\\nb\\r\\n' > A/B/mixed; svn up -q",
    );
}

#[test]
fn locking_and_unlocking() {
    same(
        "$S lock A/one -m 'why not'; $S lock bin; $S lock run; $S unlock bin; $S unlock bin; $S lock A
         $S lock nope; $S lock $URL/bin A/one; $S lock $URL/bin; $S unlock $URL/bin
         $S unlock $URL/bin; $S unlock --force $URL/bin; $S unlock --force bin
         svn checkout -q $URL ../other; cd ../other; $S lock A/one; $S lock --force A/one -F bin
         $S lock --force A/one -F bin --force-log; $S lock -m bin bin; $S unlock run
         echo mod >> A/one; $S commit -m stolen; rm -rf ../other; cd ../wc
         chmod u+w A/one; echo m >> A/one; $S commit -m lost; $S unlock A/one; svn revert -q A/one
         svn up -q; $S lock bin; $S lock; $S unlock; svn rm -q --force run; $S lock run",
    );
}

//! Working copies in many states, made by Debian's svn.

use std::sync::OnceLock;

use sylvan_testutil::Sandbox;

/// A repository with a small tree in `trunk`, checked out as `wc`.
const BASE: &str = r#"
svn -q mkdir $URL/trunk -m trunk
svn -q co $URL/trunk wc
cd wc
mkdir -p A/B/E A/D/G 'odd names' empty
for f in iota A/mu A/B/lambda A/B/E/alpha A/B/E/beta A/D/gamma A/D/G/pi A/D/G/rho; do
  echo "This is the file '$f'." > $f
done
echo x > 'odd names/a b'
echo x > 'odd names/a-b'
mkdir 'odd names/a'; echo x > 'odd names/a/c'
echo x > 'odd names/grün %20 & <x>'
echo x > 'odd names/-dash'
: > 'odd names/nothing'
svn -q add iota A empty 'odd names/'
svn -q ps svn:eol-style native iota
svn -q ps svn:keywords 'Id Rev' A/mu
svn -q ps svn:executable '*' A/B/lambda
svn -q ps color red A/D
svn -q ci -m tree
svn -q up
svn -q ps color blue A/D/G/pi
echo more >> A/D/gamma
svn -q ci -m second
svn -q up
cd ..
"#;

/// Name and script of each scene.
pub(crate) const SCENES: &[(&str, &str)] = &[
    ("clean", ""),
    (
        "mixed_and_edited",
        r#"
        cd wc; echo edit >> iota; echo edit >> A/mu; svn -q ps p v A/B; svn -q ps p v A/B/E/beta
        svn -q pd color A/D; rm A/B/E/alpha; rm -r A/D/G; touch new; mkdir newdir; touch newdir/x
        echo y > A/D/gamma; svn -q ci -m third A/D/gamma
        touch -d '2001-01-01' A/B/lambda; printf 'x\r\n' >> iota; svn -q up empty
        "#,
    ),
    (
        "touched_but_same",
        r#"
        cd wc; find . -path ./.svn -prune -o -type f -print0 | xargs -0 touch -d 2001-02-03
        printf "This is the file 'iota'.\r\n" > iota; printf 'x\n' > 'odd names/a b'
        echo Y > 'odd names/a-b'
        "#,
    ),
    (
        "ignored",
        r#"
        cd wc; svn -q ps svn:ignore "$(printf '*.tmp\nsecret')" A; svn -q ps svn:global-ignores '*.glob' .
        svn -q ps svn:global-ignores '*.deep' A/B
        touch a.o A/x.tmp A/secret A/B/x.tmp A/B/E/x.glob A/B/E/x.deep A/x.deep x.glob A/D/keep '.#x'
        mkdir A/dir.tmp; touch A/dir.tmp/in; svn -q rm --keep-local A/D; touch A/D/x.glob
        "#,
    ),
    (
        "added",
        r#"
        cd wc; mkdir -p new/sub; echo 1 > new/f; echo 2 > new/sub/g; svn -q add new; svn -q ps p v new/sub
        touch gone; svn -q add gone; rm gone; mkdir gonedir; touch gonedir/f; svn -q add gonedir; rm -r gonedir
        ln -s iota link; svn -q add link; touch new/unv; svn -q add --depth empty 'odd names' --force
        "#,
    ),
    (
        "deleted",
        r#"
        cd wc; svn -q rm A/B; svn -q rm --keep-local iota; svn -q rm A/mu; touch A/mu; mkdir A/B
        svn -q rm 'odd names/a b'
        "#,
    ),
    (
        "copied",
        r#"
        cd wc; svn -q cp A/B A/B2; echo edit >> A/B2/lambda; svn -q rm A/B2/E/alpha; svn -q cp iota A/D/iota2
        touch A/B2/added; svn -q add A/B2/added; svn -q cp $URL/trunk/A@2 Aold; svn -q ps p v Aold/D
        svn -q rm Aold/D/G; svn -q cp A/mu Aold/D/G; svn -q cp A/D/G/pi A/B2/pi; rm A/B2/pi
        "#,
    ),
    (
        "moved",
        r#"
        cd wc; svn -q mv A/B A/Bm; svn -q mv iota A/D/iota; echo edit >> A/D/iota
        svn -q mv A/Bm/E/alpha alpha; svn -q mv A/D A/Dm; svn -q mv 'odd names' odd; svn -q mv odd/a odd2
        "#,
    ),
    (
        "replaced",
        r#"
        cd wc; svn -q rm iota; echo new > iota; svn -q add iota; svn -q rm A/B; svn -q cp A/D A/B
        svn -q rm A/mu; svn -q cp A/D/gamma A/mu; svn -q rm A/D/G; echo file > A/D/G; svn -q add A/D/G
        svn -q rm A/B/G/pi; svn -q cp A/mu A/B/G/pi; svn -q rm empty; svn -q mkdir empty; svn -q mv A/D/gamma empty/gamma
        svn -q mkdir A/D/gamma
        "#,
    ),
    (
        "changelists_and_locks",
        r#"
        cd wc; svn -q cl one iota A/mu; svn -q cl two A/D/gamma; echo e >> A/mu
        svn -q lock -m 'why & <how>' A/B/lambda A/D/gamma iota; svn -q ps svn:needs-lock '*' A/D/G/rho
        svn -q rm A/B/lambda; svn -q rm --keep-local A/D/G/pi; svn -q cl three A/D/G/rho
        "#,
    ),
    (
        "switched",
        r#"
        svn -q cp $URL/trunk $URL/branch -m branch
        svn -q sw --ignore-ancestry $URL/branch/A/B wc/A/B; svn -q sw --ignore-ancestry $URL/branch/iota wc/iota
        svn -q sw $URL/branch/A/D wc/A/D; svn -q cp wc/A/D wc/A/D3; svn -q rm wc/A/D/G; echo e >> wc/A/D3/G/pi
        "#,
    ),
    (
        "externals",
        r#"
        svn -q cp $URL/trunk $URL/lib -m lib
        svn -q ps svn:externals "$(printf '^/lib/A/D ext\n^/lib/A/B deep/er/ext\n^/lib/iota A/file\n-r2 ^/lib/A/mu pinned')" wc
        svn -q ps svn:externals "^/lib/A inner" wc/A/D
        svn -q up wc; echo e >> wc/ext/gamma; echo e >> wc/A/file; touch wc/deep/unv wc/deep/er/unv
        "#,
    ),
    (
        "sparse",
        r#"
        rm -rf wc; svn -q co --depth empty $URL/trunk wc; svn -q up --set-depth immediates wc/A
        svn -q up --set-depth files wc/A/D; svn -q up wc/iota; svn -q up --set-depth exclude wc/A/B
        svn -q up --set-depth infinity 'wc/odd names'; svn -q up --set-depth exclude 'wc/odd names/a'
        mkdir wc/A/B wc/empty; svn -q cp 'wc/odd names' wc/copied
        "#,
    ),
    (
        "obstructed",
        r#"
        cd wc; rm iota; mkdir iota; touch iota/x; rm -r A/B; echo f > A/B; rm -r empty; ln -s A empty
        rm A/mu; mkfifo A/mu; rm -r A/D/G; ln -s ../../iota A/D/G; rm A/D/gamma; ln -s nowhere A/D/gamma
        mkfifo pipe; ln -s nowhere dangling
        "#,
    ),
    (
        "special",
        r#"
        cd wc; ln -s iota link; ln -s nowhere dangling; ln -s A dirlink; svn -q add link dangling dirlink
        svn -q ci -m links; svn -q up; rm link; ln -s A/mu link; rm dangling; touch dangling
        rm dirlink; ln -s A dirlink; svn -q ps svn:special '*' iota; ln -s iota 'plain link'
        chmod -x A/B/lambda; svn -q pd svn:executable A/B/lambda
        "#,
    ),
    (
        "translated",
        r#"
        cd wc; svn -q ps svn:eol-style CRLF A/D/gamma; svn -q ps svn:eol-style LF A/D/G/pi; svn -q ps svn:eol-style CR A/D/G/rho
        svn -q ps svn:keywords 'Rev Author URL Id Header' A/B/lambda; printf '$Rev$ $Id$ $URL$\n' >> A/B/lambda
        svn -q ci -m props; svn -q up; find . -path ./.svn -prune -o -type f -print0 | xargs -0 touch -d 2002-02-03
        sed -i 's/\$Rev[^$]*\$/$Rev$/' A/B/lambda; touch -d 2003-01-01 A/B/lambda
        printf "This is the file 'A/D/G/pi'.\n" > A/D/G/pi; svn -q ps svn:eol-style native A/mu
        "#,
    ),
    (
        "text_and_prop_conflicts",
        r#"
        svn -q co $URL/trunk other; cd other; echo theirs >> iota; echo theirs >> A/mu; echo theirs >> A/D/gamma
        svn -q ps color green A/D; svn -q ps color green A/D/G/pi; svn -q ps new t A/B/lambda; svn -q ci -m theirs; cd ../wc
        echo mine >> iota; echo mine >> A/mu; echo mine >> A/D/gamma; svn -q ps color yellow A/D
        svn -q ps color yellow A/D/G/pi; svn -q ps new m A/B/lambda
        svn -q up --accept postpone || true; rm A/D/gamma.*; svn -q cl c iota; rm A/D/G/pi.prej
        "#,
    ),
    (
        "tree_conflicts",
        r#"
        svn -q co $URL/trunk other; cd other; svn -q rm iota A/B/E A/D/G/rho; echo t >> A/mu; svn -q mkdir up
        svn -q mv A/B/lambda A/B/l2; echo t >> A/D/G/pi; touch both; svn -q add both; svn -q rm 'odd names/a'
        mkdir twice; echo t > twice/f; svn -q add twice; svn -q ci -m theirs; cd ../wc
        echo m >> iota; echo m >> A/B/E/alpha; svn -q rm A/mu; echo m >> A/B/lambda; svn -q mv A/D A/D2
        echo m > both; svn -q add both; touch up; svn -q rm 'odd names/a'; mkdir twice; echo m > twice/f; svn -q add twice
        svn -q up --accept postpone || true
        "#,
    ),
    (
        "merge_conflicts",
        r#"
        svn -q cp $URL/trunk $URL/branch -m b; svn -q co $URL/branch other; cd other; echo b >> iota; svn -q rm A/mu
        svn -q ps color b A/D; echo b > added; svn -q add added; svn -q mv A/B A/Bb; svn -q rm A/D/G; svn -q ci -m b; cd ../wc
        echo m >> iota; svn -q ci -m m; echo m2 >> A/mu; svn -q ps color m A/D; svn -q ci -m m2; touch added
        echo z >> A/D/G/pi; svn -q ci -m z; svn -q up; svn -q merge ^/branch --accept postpone || true
        "#,
    ),
    (
        "interrupted",
        r#"
        sqlite3 wc/.svn/wc.db "update nodes set presence='incomplete' where local_relpath in ('A/D','A/B/E');
          update nodes set presence='not-present', properties=null, checksum=null where local_relpath='A/mu';
          update nodes set presence='server-excluded', properties=null, checksum=null, depth=null where local_relpath='iota';
          insert into wc_lock values (1,'A/B',0), (1,'odd names',-1);
          insert into actual_node (wc_id, local_relpath, parent_relpath, changelist) values (1,'A/mu','A','lost');"
        echo e >> wc/A/D/G/pi; svn -q ps p v wc/A/D 2>/dev/null || true
        "#,
    ),
    (
        "committed_deletions",
        r#"
        cd wc; svn -q rm A/B A/mu; svn -q ci -m rm; mkdir A/B; touch A/B/x; svn -q cp A A2
        "#,
    ),
];

/// Makes a scene; its working copy is `wc`.
pub(crate) fn make(name: &str) -> Sandbox {
    static BASE_SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    let base = BASE_SANDBOX.get_or_init(|| {
        let base = Sandbox::new();
        base.sh(BASE);
        base
    });
    let (_, script) = SCENES
        .iter()
        .find(|(scene, _)| *scene == name)
        .unwrap_or_else(|| panic!("no scene {name}"));
    let sandbox = Sandbox::new();
    let base = base.join("repo");
    sandbox.sh(&format!(
        "rm -rf repo; cp -a {} repo; svn -q co $URL/trunk wc\n{script}",
        base.display()
    ));
    sandbox
}

use std::sync::Arc;

use sylvan_core::{NodeKind, RelPathBuf};

use super::ignores::Ignores;
use crate::db::{Actual, Layer, Node, Presence};

fn folder(path: &str, op_depth: usize, repos_path: &str, props: &[u8]) -> Node {
    let layer = Layer {
        op_depth,
        presence: Presence::Normal,
        kind: NodeKind::Dir,
        repos_id: Some(1),
        repos_path: Some(RelPathBuf::new(repos_path).unwrap()),
        revision: None,
        depth: None,
        checksum: None,
        changed_rev: None,
        changed_date: None,
        changed_author: None,
        recorded_size: None,
        recorded_time: None,
        properties: Some(props.to_vec()),
        moved_here: false,
        moved_to: None,
        file_external: false,
        inherited_props: None,
    };
    Node {
        path: RelPathBuf::new(path).unwrap(),
        layers: vec![layer],
        actual: Actual::default(),
    }
}

#[test]
fn global_ignores_reach_all_below_but_switched_folders() {
    let root = Arc::new(Ignores::default());
    let trunk = RelPathBuf::new("trunk").unwrap();
    let top = folder(
        "a",
        0,
        "trunk/a",
        b"(svn:global-ignores 5 *.gen svn:ignore 5 *.one)",
    );
    let top = root.below(&top, 0, Some(&trunk)).unwrap();
    assert!(top.matches("x.gen", &[]) && top.matches("x.one", &[]));

    let a = RelPathBuf::new("trunk/a").unwrap();
    let child = top.below(&folder("a/b", 0, "trunk/a/b", b"()"), 0, Some(&a));
    let child = child.unwrap();
    assert!(child.matches("x.gen", &[]) && !child.matches("x.one", &[]));
    assert!(child.matches("x.o", &["*.o".into()]));

    let switched = top.below(&folder("a/b", 0, "branch/b", b"()"), 0, Some(&a));
    assert!(!switched.unwrap().matches("x.gen", &[]));
    let copied = top.below(&folder("a/b", 2, "branch/b", b"()"), 0, Some(&a));
    assert!(copied.unwrap().matches("x.gen", &[]));

    let mut deleted = folder("a/b", 2, "trunk/a/b", b"()");
    deleted.layers[0].presence = Presence::BaseDeleted;
    let deleted = top.below(&deleted, 0, Some(&a)).unwrap();
    assert!(!deleted.matches("x.gen", &[]));
}

//! Reads working copies in many states as svn does.

use crate::{info, scenes, status};

macro_rules! scenes {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            let sandbox = scenes::make(stringify!($name));
            status::check(&sandbox, stringify!($name));
            info::check(&sandbox, stringify!($name));
        })*

        #[test]
        fn every_scene_is_tested() {
            let tested = [$(stringify!($name)),*];
            let scenes = scenes::SCENES.iter().map(|(name, _)| *name);
            assert_eq!(scenes.collect::<Vec<_>>(), tested);
        }
    };
}

scenes!(
    clean,
    mixed_and_edited,
    touched_but_same,
    ignored,
    added,
    deleted,
    copied,
    moved,
    replaced,
    changelists_and_locks,
    switched,
    externals,
    sparse,
    obstructed,
    special,
    translated,
    text_and_prop_conflicts,
    tree_conflicts,
    merge_conflicts,
    interrupted,
    committed_deletions,
);

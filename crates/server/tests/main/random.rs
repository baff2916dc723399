//! Whatever a client says, the server neither panics nor hangs, and says the same however it comes
//! in pieces.

use proptest::prelude::*;

use crate::scene::{HELLO, Scene};

/// Commands that make sense in the scene, or nearly.
const COMMANDS: &[&str] = &[
    "( reparent ( 16:svn://h/rr/trunk ) ) ",
    "( get-latest-rev ( ) ) ",
    "( get-dated-rev ( 27:2001-09-09T01:46:40.000000Z ) ) ",
    "( rev-proplist ( 1 ) ) ",
    "( rev-prop ( 1 7:svn:log ) ) ",
    "( check-path ( 7:trunk/a ( ) ) ) ",
    "( stat ( 7:trunk/b ( 1 ) ) ) ",
    "( get-file ( 7:trunk/a ( 1 ) true true true ) ) ",
    "( get-dir ( 5:trunk ( 1 ) true true ( kind size ) true ) ) ",
    "( list ( 0: ( 1 ) infinity ( kind size time last-author ) ( 1:* ) ) ) ",
    "( log ( ( 5:trunk ) ( 1 ) ( 0 ) true false 3 true revprops ( 7:svn:log ) ) ) ",
    "( get-locations ( 7:trunk/a 1 ( 1 0 ) ) ) ",
    "( get-location-segments ( 7:trunk/a ( 1 ) ( ) ( ) ) ) ",
    "( get-file-revs ( 7:trunk/a ( 0 ) ( 1 ) false ) ) ",
    "( get-mergeinfo ( ( 5:trunk 0: ) ( ) nearest-ancestor true ) ) ",
    "( get-deleted-rev ( 7:trunk/a 0 1 ) ) ",
    "( get-iprops ( 7:trunk/a ( 1 ) ) ) ",
    "( lock ( 7:trunk/a ( 1:c ) true ( 1 ) ) ) ",
    "( lock-many ( ( ) true ( ( 7:trunk/a ( 1 ) ) ( 4:none ( ) ) ) ) ) ",
    "( unlock-many ( true ( ( 7:trunk/a ( ) ) ) ) ) ",
    "( get-locks ( 0: ( infinity ) ) ) ",
    "( replay-range ( 0 1 0 true ) ) ",
    "( update ( ( 1 ) 0: true infinity true true ) ) ",
    "( switch ( ( ) 1:a true 18:svn://h/rr/trunk/b files ) ) ",
    "( diff ( ( 1 ) 0: true true 10:svn://h/rr true unknown ) ) ",
    "( status ( 0: true ( 1 ) empty ) ) ",
    "( set-path ( 0: 0 true ( ) infinity ) ) ",
    "( link-path ( 5:trunk 16:svn://h/rr/trunk 1 false ( ) empty ) ) ",
    "( delete-path ( 7:trunk/a ) ) ",
    "( finish-report ( ) ) ",
    "( abort-report ( ) ) ",
    "( success ( ) ) ",
    "( failure ( ( 1 1:x 0: 0 ) ) ) ",
    "( commit ( 0: ( ) false ( ) ) ) ",
    "( open-root ( ( 1 ) 1:r ) ) ",
    "( open-dir ( 5:trunk 1:r 1:t ( 1 ) ) ) ",
    "( add-dir ( 7:trunk/d 1:t 1:d ( 16:svn://h/rr/trunk 1 ) ) ) ",
    "( add-file ( 7:trunk/e 1:t 1:e ( ) ) ) ",
    "( open-file ( 7:trunk/a 1:t 1:f ( 1 ) ) ) ",
    "( apply-textdelta ( 1:f ( ) ) ) ",
    "( textdelta-chunk ( 1:f 5:SVN\0\0 ) ) ",
    "( textdelta-end ( 1:f ) ) ",
    "( change-file-prop ( 1:f 1:p ( 1:v ) ) ) ",
    "( close-file ( 1:f ( ) ) ) ",
    "( delete-entry ( 7:trunk/b ( 1 ) 1:t ) ) ",
    "( close-dir ( 1:t ) ) ",
    "( close-dir ( 1:r ) ) ",
    "( close-edit ( ) ) ",
    "( abort-edit ( ) ) ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn commands_in_any_order(
        picks in prop::collection::vec(prop::sample::select(COMMANDS), 0..14),
        at in any::<prop::sample::Index>(),
        to in prop::sample::select(b" ()0123456789:abdet/.-\xff".to_vec()),
        spoil in any::<bool>(),
    ) {
        let scene = Scene::new();
        let mut said = [HELLO, &picks.concat()].concat().into_bytes();
        if spoil {
            let at = at.index(said.len());
            said[at] = to;
        }
        scene.say_bytes(&said, 11);
        prop_assert_eq!(scene.transactions(), Vec::<String>::new());
    }

    #[test]
    fn bytes(said in prop::collection::vec(any::<u8>(), 0..200)) {
        let scene = Scene::new();
        let whole = scene.say_bytes(&said, 1000);
        prop_assert_eq!(scene.say_bytes(&said, 1), whole);
    }
}

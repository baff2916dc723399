//! What clients may try, and what the server does.

use crate::scene::{HELLO, Scene, begin};

/// The connection ends, without another word.
const CLOSED: &str = "";
/// The client is told, and may go on.
const TOLD: &str = "( failure ( ( ";

#[test]
fn before_the_client_is_known() {
    let scene = Scene::new();
    let greeting = scene.say_bytes(b"", 1).len();
    for said in [
        "GET / HTTP/1.1\r\n\r\n".to_owned(),
        "( 2 ( edit-pipeline ) ".to_owned(),
        "99999999999999999999999999: ".to_owned(),
        "4294967295:".to_owned(),
        format!("{}x", "( ".repeat(100)),
        format!("( 2 ( {} ) 9:svn://h/r ) ", "a ".repeat(60_000)),
        format!("( {} ", "1 ".repeat(30_000)),
        "( 2 ( edit-pipeline ) 100000:".to_owned() + &"x".repeat(99_999),
        "( 1 ( edit-pipeline ) 10:svn://h/rr ) ".to_owned(),
        "( 2 ( ) 10:svn://h/rr ) ".to_owned(),
        "\0\u{1}\u{2}".to_owned(),
        " ".repeat(100_000),
    ] {
        let heard = scene.say_bytes(said.as_bytes(), 4096);
        assert_eq!(heard.len(), greeting, "{:?}", &said[..said.len().min(60)]);
    }
    for (url, told) in [
        ("http://h/rr", "Non-svn URL passed to svn server"),
        ("svn://h/../../etc", "Couldn't determine repository path"),
        ("svn://h/%2e%2e/rr", "Couldn't determine repository path"),
        (
            "svn://h/rr%2f..%2f..%2fx",
            "Couldn't determine repository path",
        ),
        ("svn://h/none", "No repository found in 'svn://h/none'"),
        ("svn://h/rr%00", "is not a valid URL"),
        ("svn://h/%ff", "is not a valid URL"),
        ("svn", "is not a valid URL"),
    ] {
        let hello = format!("( 2 ( edit-pipeline ) {}:{url} ) ", url.len());
        let heard = scene.say_bytes(hello.as_bytes(), 4096);
        let heard = String::from_utf8_lossy(&heard).into_owned();
        assert!(heard.contains(told), "{url}: {heard}");
    }
}

#[test]
fn while_it_authenticates() {
    let scene = Scene::new();
    let hello = HELLO.split("( EXTERNAL").next().unwrap();
    for (said, told) in [
        (
            "( EXTERNAL ( 3:eve ) ) ",
            "Requested username does not match",
        ),
        (
            "( CRAM-MD5 ( ) ) ",
            "Must authenticate with listed mechanism",
        ),
        (
            "( PLAIN ( 4:AAAA ) ) ",
            "Must authenticate with listed mechanism",
        ),
        ("( X ) ", "Must authenticate with listed mechanism"),
        ("( 0: ( ) ) ", "( success ( 36:"),
        ("( ANONYMOUS ( 0: ) ) ", "( success ( 36:"),
        (
            "( get-latest-rev ( ) ) ",
            "Must authenticate with listed mechanism",
        ),
    ] {
        let heard = scene.say_bytes(format!("{hello}{said}").as_bytes(), 3);
        let heard = String::from_utf8_lossy(&heard).into_owned();
        assert!(heard.contains(told), "{said}: {heard}");
    }
}

#[test]
fn commands_that_make_no_sense() {
    let scene = Scene::new();
    let deep = format!("{}{}", "( ".repeat(70), ") ".repeat(70));
    let large = format!("( get-lock ( {}:{} ) ) ", 2 << 20, "x".repeat(2 << 20));
    let many = format!(
        "( log ( ( {}) ( ) ( ) true true ) ) ",
        "0: ".repeat(200_000)
    );
    for (command, answer) in [
        ("( log ) ", CLOSED),
        ("( 7 ( ) ) ", CLOSED),
        (&*deep, CLOSED),
        (&*large, CLOSED),
        (&*many, CLOSED),
        (
            "( check-path ( 1:\u{ff} ( 99999999999999999999 ) ) ) ",
            CLOSED,
        ),
        ("( check-path ( 1:a ( 9223372036854775808 ) ) ) ", CLOSED),
        ("( get-everything ( ) ) ", TOLD),
        ("( get-lock ( 8:../../a/ ) ) ", TOLD),
        ("( get-lock ( 3:a\nb ) ) ", TOLD),
        ("( get-file ( 5:trunk ( 1 ) true true ) ) ", TOLD),
        ("( get-file ( 4:none ( 1 ) true true ) ) ", TOLD),
        ("( stat ( 0: ( 9223372036854775807 ) ) ) ", TOLD),
        ("( get-dated-rev ( 3:now ) ) ", TOLD),
        ("( reparent ( 11:svn://x/y/z ) ) ", TOLD),
        ("( reparent ( 18:svn://h/rr/../../x ) ) ", TOLD),
        ("( rev-proplist ( 9000000000000000000 ) ) ", TOLD),
        ("( change-rev-prop ( 1 7:svn:log 1:x ) ) ", TOLD),
        (
            "( change-rev-prop2 ( 1 7:svn:log ( 1:x ) ( true 1:y ) ) ) ",
            TOLD,
        ),
        ("( get-locks ( 0: ( unknown ) ) ) ", TOLD),
        ("( lock ( 7:trunk/a ( 2:\u{1}x ) false ( ) ) ) ", TOLD),
        ("( unlock ( 7:trunk/a ( 9:../../../ ) false ) ) ", TOLD),
        ("( get-deleted-rev ( 5:trunk 5 7 ) ) ", TOLD),
        ("( get-iprops ( 4:none ( 1 ) ) ) ", TOLD),
        (
            "( get-location-segments ( 5:trunk ( 1 ) ( 0 ) ( 1 ) ) ) ",
            TOLD,
        ),
        ("( get-locations ( 4:none 1 ( 1 0 1 1 0 ) ) ) ", TOLD),
        ("( get-file-revs ( 5:trunk ( ) ( ) true ) ) ", TOLD),
        ("( get-mergeinfo ( ( 4:none ) ( ) inherited true ) ) ", TOLD),
        (
            "( log ( ( 0: ) ( 0 ) ( 99 ) true true 0 true all-revprops ( ) ) ) ",
            TOLD,
        ),
        ("( replay ( 99 0 true ) ) ( success ( ) ) ", TOLD),
        (
            "( replay-range ( 1 9223372036854775807 0 true ) ) ( success ( ) ) ",
            TOLD,
        ),
        (
            "( update ( ( ) 2:.. true ) ) ( set-path ( 0: 1 false ) ) ( finish-report ( ) ) ",
            TOLD,
        ),
        (
            "( update ( ( ) 0: true ) ) ( delete-path ( 1:x ) ) ( finish-report ( ) ) \
             ( success ( ) ) ",
            TOLD,
        ),
        (
            "( update ( ( ) 0: true ) ) ( set-path ( 0: 99 false ) ) ( finish-report ( ) ) \
             ( success ( ) ) ",
            TOLD,
        ),
        ("( switch ( ( ) 0: true 9:svn://x/y ) ) ", TOLD),
        (
            "( update ( ( ) 0: true ) ) ( link-path ( 1:a 9:svn://x/y 1 false ) ) \
             ( finish-report ( ) ) ",
            TOLD,
        ),
    ] {
        let said = format!("{command}( get-latest-rev ( ) ) ");
        let heard = scene.say(&[said.as_bytes()]);
        let shown = &command[..command.len().min(60)];
        if answer == CLOSED {
            assert_eq!(heard, "", "{shown}");
            continue;
        }
        assert!(heard.contains(answer), "{shown}: {heard}");
        assert!(heard.ends_with("( success ( 1 ) ) "), "{shown}: {heard}");
    }
}

#[test]
fn properties_without_end_are_no_longer_than_a_request() {
    let scene = Scene::new();
    let props = "( 1:p 1:v ) ".repeat(70_000);
    let heard = scene.say(&[format!("( commit ( 0: ( ) false ( {props}) ) ) ").as_bytes()]);
    assert_eq!(heard, "");
    let heard = scene.say(&[
        begin("x").as_bytes(),
        format!(
            "( open-root ( ( 1 ) {}:{} ) ) ",
            2 << 20,
            "r".repeat(2 << 20)
        )
        .as_bytes(),
    ]);
    assert!(!heard.contains("failure"), "{heard}");
    assert_eq!(scene.transactions(), Vec::<String>::new());
}

#[test]
fn deep_trees_are_walked() {
    const DEEPEST: usize = 250;
    let scene = Scene::new();
    let mut said = begin("deep") + "( open-root ( ( 1 ) 2:t0 ) ) ";
    let mut path = String::new();
    for level in 1..=DEEPEST {
        path.push_str(if level == 1 { "d" } else { "/d" });
        let (above, here) = (format!("t{}", level - 1), format!("t{level}"));
        let (above_len, here_len) = (above.len(), here.len());
        said += &format!(
            "( add-dir ( {}:{path} {above_len}:{above} {here_len}:{here} ( ) ) ) ",
            path.len()
        );
    }
    for level in (0..=DEEPEST).rev() {
        let here = format!("t{level}");
        said += &format!("( close-dir ( {}:{here} ) ) ", here.len());
    }
    said += "( close-edit ( ) ) ";
    let too_deep = "d/".repeat(2048) + "d";
    let too_deep = format!("( check-path ( {}:{too_deep} ( ) ) ) ", too_deep.len());
    let deepest = format!("( check-path ( {}:{path} ( ) ) ) ", path.len());
    let walks = "( list ( 0: ( ) infinity ( kind ) ) ) ( replay ( 2 0 true ) ) ( success ( ) ) \
        ( get-mergeinfo ( ( 0: ) ( ) explicit true ) ) ( update ( ( ) 0: true ) ) \
        ( set-path ( 0: 0 true ) ) ( finish-report ( ) ) ( success ( ) ) ( get-latest-rev ( ) ) ";
    // An eighth of what the server's own threads have, for an eighth of the deepest paths.
    let thread = std::thread::Builder::new().stack_size(8 << 20);
    let heard = thread.spawn(move || {
        let committed = scene.say(&[said.as_bytes()]);
        assert!(committed.contains("( 2 ( 27:"), "{committed}");
        assert_eq!(scene.say(&[too_deep.as_bytes()]), "");
        let kind = scene.say(&[deepest.as_bytes()]);
        assert!(kind.ends_with("( success ( dir ) ) "));
        scene.say(&[walks.as_bytes()])
    });
    let heard = heard.unwrap().join().unwrap();
    assert!(heard.ends_with("( success ( 2 ) ) "), "{}", heard.len());
}

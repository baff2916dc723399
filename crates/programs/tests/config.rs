//! What the user's configuration and the environment say.

use std::fs;

use crate::fixture::Fixture;

#[test]
fn booleans_that_are_none() {
    let fixture = Fixture::empty();
    let url = fixture.at("");
    fixture.commit("one", |wc| {
        fs::write(wc.join("f"), "one\n").unwrap();
        fixture.svn(wc, &["add", "-q", "f"]);
    });
    let pair = &fixture.pair;
    pair.both(&["checkout", "-q", &url, "wc"]).success();
    for option in [
        "config:auth:store-passwords",
        "config:auth:store-auth-creds",
        "config:auth:ssl-client-cert-file-prompt",
        "config:miscellany:interactive-conflicts",
        "config:miscellany:use-commit-times",
        "config:working-copy:exclusive-locking",
        "config:working-copy:busy-timeout",
        "servers:global:store-passwords",
        "servers:global:store-auth-creds",
        "servers:global:store-plaintext-passwords",
        "servers:global:store-ssl-client-cert-pp",
        "servers:global:store-ssl-client-cert-pp-plaintext",
    ] {
        let option = format!("{option}=maybe");
        for words in [
            &["status", "wc"][..],
            &["cat", "wc/f"],
            &["log", "-q", &url],
            &["update", "wc"],
            &["checkout", "-q", &url, "new"],
            &["cleanup", "wc"],
            &["export", "-q", "wc", "tree"],
        ] {
            pair.both_local(&[words, &["--config-option", &option]].concat());
            pair.each(|folder| {
                let _ = fs::remove_dir_all(folder.join("new"));
                let _ = fs::remove_dir_all(folder.join("tree"));
            });
        }
    }
    let two = "config:auth:store-passwords=a";
    let more = "config:miscellany:interactive-conflicts=b";
    pair.both(&["status", "--config-option", more, "--config-option", two]);
    let yes = "config:miscellany:use-commit-times=On";
    pair.both(&["update", "wc", "--config-option", yes])
        .success();
}

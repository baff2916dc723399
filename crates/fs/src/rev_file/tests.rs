use super::*;

fn rev(number: i64) -> Revnum {
    Revnum::new(number).unwrap()
}

#[test]
fn large_and_small_files_read_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::default();
    for len in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 7] {
        let bytes: Vec<u8> = (0..len).map(|at| ((at * 31) >> 3) as u8).collect();
        let path = dir.path().join(len.to_string());
        std::fs::write(&path, &bytes).unwrap();
        let file = RevFile::open(path, rev(1), false, &cache).unwrap().unwrap();
        assert_eq!(file.len(), len as u64);
        for at in [0, 1, BLOCK - 3, BLOCK, 4 * BLOCK] {
            for count in [0, 1, 7, BLOCK, 3 * BLOCK, 5 * BLOCK] {
                let found = file.read(at as u64, count);
                match bytes.get(at..at + count) {
                    Some(expected) => {
                        assert_eq!(found.unwrap(), expected);
                        assert_eq!(file.read_once(at as u64, count).unwrap(), expected);
                    }
                    None => assert_eq!(found.unwrap_err().code().number(), 160_004),
                }
            }
        }
        assert_eq!(
            file.read_up_to(1, usize::MAX).unwrap(),
            bytes.get(1..).unwrap_or(&[])
        );
    }
}

#[test]
fn a_file_in_the_cache_does_not_keep_the_cache() {
    let cache = Cache::default();
    let file = Arc::new(RevFile::of_bytes(vec![0; 10], rev(1), &cache));
    let key = Key::new(1, Kind::File, rev(1), 0);
    cache.put_file(key, &file, 10);
    let weak = cache.downgrade();
    drop(cache);
    assert!(weak.get().is_none());
    assert_eq!(file.read(2, 3).unwrap(), vec![0; 3]);
    assert_eq!(Arc::strong_count(&file), 1);
}

#[test]
fn trailers_are_parsed_and_damage_is_named() {
    let parse = |text: &str| parse_trailer(text.as_bytes(), rev(3), 100, 207);
    let trailer = parse("abc\n\n17 80\n").unwrap();
    assert_eq!((trailer.root, trailer.changes), (117, 180));
    for (text, message) in [
        ("abc\n17 80", "Revision file (r3) lacks trailing newline"),
        (
            "17 80\n",
            "Final line in revision file (r3) longer than 64 characters",
        ),
        ("\n1780\n", "Final line in revision file r3 missing space"),
        (
            "\n17 8x\n",
            "Final line in revision file r3 has no valid offsets",
        ),
        (
            "\n17 107\n",
            "Final line in revision file r3 has no valid offsets",
        ),
    ] {
        assert_eq!(
            parse(text).unwrap_err().to_string(),
            format!("E160004: {message}")
        );
    }
}

#[test]
fn manifests_are_checked() {
    let parse = |text: &str| parse_manifest(text.as_bytes(), Path::new("/m"), 3);
    assert_eq!(parse("0\n107\n300\n").unwrap(), [0, 107, 300]);
    for text in [
        "0\n107\n",
        "0\n107\n300\n400\n",
        "0\n107\nx\n",
        "0\n107\n100\n",
        "",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
}

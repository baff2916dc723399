use std::io::Write;
use std::sync::{Arc, Mutex};

use super::*;

/// Collects what is printed.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Prints notifications below `/w`; both streams go to one sink.
fn printed(operation: Operation, all: &[Notification]) -> String {
    let sink = Sink::default();
    let mut out = Output::to(sink.clone(), sink.clone());
    let mut notifier = Notifier::new(operation, false, Dirent::new("/w"));
    for one in all {
        notifier.notify(&mut out, one);
    }
    notifier.print_conflicts(&mut out).unwrap();
    out.flush().unwrap();
    let bytes = sink.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

fn about(path: &str, action: Action) -> Notification {
    let mut what = Notification::new(Dirent::new(path), action).kind(NodeKind::File);
    what.content = State::Unchanged;
    what.props = State::Unchanged;
    what
}

fn at(rev: i64, action: Action) -> Notification {
    about("/w", action).revs(None, Revnum::new(rev))
}

#[test]
fn each_action_has_its_line() {
    let states = |action, content, props| about("/w/a", action).states(content, props);
    let mut unlocked = about("/w/a", Action::UpdateUpdate);
    unlocked.lock_state = LockState::Unlocked;
    let mut removed = about("/w/a", Action::UpdateExternalRemoved);
    removed.error = Some(Error::new(ErrorCode::WC_LEFT_LOCAL_MOD, "Left"));
    for (what, line) in [
        (about("/w/a", Action::UpdateAdd), "A    a\n"),
        (about("/w", Action::UpdateAdd), "A    .\n"),
        (about("/wx/a", Action::UpdateAdd), "A    /wx/a\n"),
        (about("/w/a/b", Action::UpdateDelete), "D    a/b\n"),
        (about("/w/a", Action::UpdateReplace), "R    a\n"),
        (about("/w/a", Action::Exclude), "D    a\n"),
        (about("/w/a", Action::Exists), "E    a\n"),
        (
            states(Action::Exists, State::Unchanged, State::Merged),
            "EG   a\n",
        ),
        (
            states(Action::Exists, State::Unchanged, State::Changed),
            "E    a\n",
        ),
        (
            states(Action::UpdateUpdate, State::Changed, State::Unchanged),
            "U    a\n",
        ),
        (
            states(Action::UpdateUpdate, State::Merged, State::Changed),
            "GU   a\n",
        ),
        (
            states(Action::UpdateUpdate, State::Changed, State::Changed).kind(NodeKind::Dir),
            " U   a\n",
        ),
        (about("/w/a", Action::UpdateUpdate), ""),
        (unlocked, "  B  a\n"),
        (about("/w/a", Action::UpdateBrokenLock), "B    a\n"),
        (about("/w/a", Action::UpdateShadowedAdd), "   A a\n"),
        (about("/w/a", Action::Restore), "Restored 'a'\n"),
        (removed, "Removed external 'a': Left\n"),
        (
            about("/w/a", Action::Resolved),
            "Resolved conflicted state of 'a'\n",
        ),
        (about("/w/a", Action::Delete), "D         a\n"),
        (about("/w/a", Action::Add), "A         a\n"),
        (
            at(12, Action::StatusCompleted),
            "Status against revision:     12\n",
        ),
        (
            about("/w/e", Action::StatusExternal),
            "\nPerforming status on external item at 'e':\n",
        ),
        (
            about("/w/e", Action::CleanupExternal),
            "Performing cleanup on external item at 'e'.\n",
        ),
    ] {
        assert_eq!(
            printed(Operation::Other, std::slice::from_ref(&what)),
            line,
            "{what:?}"
        );
    }
}

#[test]
fn operations_end_with_their_revision() {
    let add = about("/w/a", Action::UpdateAdd);
    let all = [
        at(0, Action::UpdateStarted),
        add.clone(),
        at(3, Action::UpdateCompleted),
        at(0, Action::UpdateStarted),
        at(3, Action::UpdateCompleted),
    ];
    assert_eq!(
        printed(Operation::Other, &all),
        "Updating '.':\nA    a\nUpdated to revision 3.\nUpdating '.':\nAt revision 3.\n"
    );
    assert_eq!(
        printed(Operation::Checkout, &all[..3]),
        "A    a\nChecked out revision 3.\n"
    );
    assert_eq!(
        printed(Operation::Export, &all[..3]),
        "A    a\nExported revision 3.\n"
    );
    let complete = about("/w", Action::UpdateCompleted);
    assert_eq!(
        printed(Operation::Export, &[complete]),
        "Export complete.\n"
    );
}

#[test]
fn externals_are_set_apart() {
    let mut failed = about("/w/f", Action::FailedExternal);
    failed.error = Some(Error::new(ErrorCode::RA_ILLEGAL_URL, "No such URL"));
    let all = [
        at(0, Action::UpdateStarted),
        about("/w/e", Action::UpdateExternal),
        at(0, Action::UpdateStarted),
        about("/w/e/x", Action::UpdateAdd),
        at(2, Action::UpdateCompleted),
        about("/w/f", Action::UpdateExternal),
        failed.clone(),
        at(3, Action::UpdateCompleted),
        failed,
    ];
    assert_eq!(
        printed(Operation::Other, &all),
        "Updating '.':\n\nFetching external item into 'e':\nA    e/x\n\
         Updated external to revision 2.\n\n\nFetching external item into 'f':\n\
         svn: warning: W170000: No such URL\n\nAt revision 3.\n\
         svn: warning: W205011: Error handling externals definition for 'f':\n\
         svn: warning: W170000: No such URL\n"
    );
}

#[test]
fn conflicts_and_skips_are_counted() {
    let all = [
        about("/w/a", Action::UpdateUpdate).states(State::Conflicted, State::Conflicted),
        about("/w/t", Action::TreeConflict),
        about("/w/s", Action::Skip),
        about("/w/m", Action::Skip).states(State::Missing, State::Unchanged),
        about("/w/o", Action::UpdateSkipObstruction),
        about("/w/c", Action::SkipConflicted),
    ];
    assert_eq!(
        printed(Operation::Other, &all),
        "CC   a\n   C t\nSkipped 's'\nSkipped missing target: 'm'\n\
         Skipped 'o' -- An obstructing working copy was found\n\
         Skipped 'c' -- Node remains in conflict\n\
         Summary of conflicts:\n  Text conflicts: 1\n  Property conflicts: 1\n  \
         Tree conflicts: 1\n  Skipped paths: 4\n"
    );
}

//! What operations tell about their progress: one [`Notification`] a line that Subversion prints.

use sylvan_core::{Dirent, Error, Lock, NodeKind, Revnum};

/// What happened to the path of a [`Notification`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Scheduled for addition.
    Add,
    /// Copied.
    Copy,
    /// Scheduled for deletion, or an unversioned item deleted.
    Delete,
    /// A missing file was made again.
    Restore,
    /// Local changes were undone.
    Revert,
    /// Local changes could not be undone.
    FailedRevert,
    /// A conflict was resolved.
    Resolved,
    /// A text conflict was resolved.
    ResolvedText,
    /// The conflict of the property `prop_name` was resolved.
    ResolvedProp,
    /// A tree conflict was resolved.
    ResolvedTree,
    /// Skipped for no special reason.
    Skip,
    /// Update deleted it.
    UpdateDelete,
    /// Update added it.
    UpdateAdd,
    /// Update replaced it.
    UpdateReplace,
    /// Update changed it.
    UpdateUpdate,
    /// Update begins with this target.
    UpdateStarted,
    /// Update ended; `rev` is the revision that is there now.
    UpdateCompleted,
    /// Update of an external begins.
    UpdateExternal,
    /// An external was removed.
    UpdateExternalRemoved,
    /// Update skipped an obstructed node.
    UpdateSkipObstruction,
    /// Update skipped a node that is not in the repository.
    UpdateSkipWorkingOnly,
    /// Update skipped a node that the system would not let it touch.
    UpdateSkipAccessDenied,
    /// Update added below a deleted or obstructed node.
    UpdateShadowedAdd,
    /// Update changed below a deleted or obstructed node.
    UpdateShadowedUpdate,
    /// Update deleted below a deleted or obstructed node.
    UpdateShadowedDelete,
    /// A lock token turned out to be defunct.
    UpdateBrokenLock,
    /// Something of the same kind was there before and is taken over.
    Exists,
    /// An external could not be handled; see `error`.
    FailedExternal,
    /// Status walk ended; `rev` is what it was compared with.
    StatusCompleted,
    /// Status of an external begins.
    StatusExternal,
    /// Info of an external begins.
    InfoExternal,
    /// Cleanup of an external begins.
    CleanupExternal,
    /// Taken out of the working copy.
    Exclude,
    /// Left in place for its local changes when its folder was taken out.
    LeftLocalModifications,
    /// A tree conflict was recorded.
    TreeConflict,
    /// A move became a copy and a deletion.
    MoveBroken,
    /// Skipped for being in conflict.
    SkipConflicted,
    /// An obstruction made the operation fail for it.
    FailedObstruction,
    /// The path does not exist.
    PathNonexistent,
    /// The server says that the repository moved to `url`.
    UrlRedirect,
    /// Its working copy's format was raised.
    UpgradedPath,
    /// Its changes are being committed.
    CommitModified,
    /// It is being committed as new.
    CommitAdded,
    /// It is being committed as new with history.
    CommitCopied,
    /// Its deletion is being committed.
    CommitDeleted,
    /// It is being committed in place of another node.
    CommitReplaced,
    /// Its text is being sent.
    CommitText,
    /// All was sent; the revision is being made.
    CommitFinalizing,
    /// It was locked in the repository.
    Locked,
    /// It was unlocked in the repository.
    Unlocked,
    /// It could not be locked; see `error`.
    FailedLock,
    /// It could not be unlocked; see `error`.
    FailedUnlock,
    /// A property of a revision was set.
    RevpropSet,
    /// A property of a revision was deleted.
    RevpropDeleted,
    /// The property `prop_name` was added or got another value.
    PropertySet,
    /// The property `prop_name` was deleted.
    PropertyDeleted,
    /// The property `prop_name` was to be deleted, but there is none.
    PropertyDeletedNonexistent,
    /// It is in `changelist` now.
    ChangelistSet,
    /// It is not in `changelist` any more.
    ChangelistClear,
}

/// What happened to the text or the properties of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum State {
    /// The question does not arise.
    #[default]
    Inapplicable,
    /// Not known.
    Unknown,
    /// Unchanged.
    Unchanged,
    /// Missing on disk.
    Missing,
    /// Something else is in its place.
    Obstructed,
    /// Changed.
    Changed,
    /// Changed, and local changes were kept.
    Merged,
    /// Changed, and in conflict with local changes.
    Conflicted,
}

/// What happened to the lock token of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum LockState {
    /// The question does not arise.
    #[default]
    Inapplicable,
    /// Not known.
    Unknown,
    /// Unchanged.
    Unchanged,
    /// A token was taken.
    Locked,
    /// The token is gone.
    Unlocked,
}

/// One event of an operation, for the printer.
#[derive(Clone, Debug)]
pub struct Notification {
    /// The absolute path it is about.
    pub path: Dirent,
    /// What happened.
    pub action: Action,
    /// The kind of node afterwards.
    pub kind: NodeKind,
    /// What happened to the text (of a file), or the folder itself.
    pub content: State,
    /// What happened to the properties.
    pub props: State,
    /// What happened to the lock token.
    pub lock_state: LockState,
    /// The revision afterwards.
    pub rev: Option<Revnum>,
    /// The revision before.
    pub old_rev: Option<Revnum>,
    /// The value of `svn:mime-type`.
    pub mime_type: Option<String>,
    /// The lock, when one was taken.
    pub lock: Option<Lock>,
    /// Why it failed.
    pub error: Option<Error>,
    /// The URL it is about, where that is not a path.
    pub url: Option<String>,
    /// The property it is about.
    pub prop_name: Option<String>,
    /// The changelist it is about.
    pub changelist: Option<String>,
    /// The folder to which the path is shown relative, instead of the current one.
    pub prefix: Option<Dirent>,
}

impl Notification {
    /// Makes a notification in which nothing but path and action is known.
    pub const fn new(path: Dirent, action: Action) -> Self {
        Self {
            path,
            action,
            kind: NodeKind::Unknown,
            content: State::Unknown,
            props: State::Unknown,
            lock_state: LockState::Unknown,
            rev: None,
            old_rev: None,
            mime_type: None,
            lock: None,
            error: None,
            url: None,
            prop_name: None,
            changelist: None,
            prefix: None,
        }
    }

    /// Sets the kind.
    #[must_use]
    pub const fn kind(mut self, kind: NodeKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the revisions before and after.
    #[must_use]
    pub const fn revs(mut self, old: Option<Revnum>, new: Option<Revnum>) -> Self {
        self.old_rev = old;
        self.rev = new;
        self
    }

    /// Sets the states of text and properties.
    #[must_use]
    pub const fn states(mut self, content: State, props: State) -> Self {
        self.content = content;
        self.props = props;
        self
    }
}

/// Receives notifications. It is called on whichever thread drives the operation, one at a time.
pub type NotifyFn<'a> = dyn FnMut(&Notification) + Send + 'a;

//! `svn info --show-item`: one value of each node.

use sylvan_client::info::Info;
use sylvan_cmdline::print::Output;
use sylvan_core::{Error, ErrorCode, NodeKind, Result, Timestamp};

use super::{Place, Print, relative_url, show_size};
use crate::invocation::Options;
use crate::similar::most_similar;

/// A value that can be shown alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Kind,
    Url,
    RelativeUrl,
    ReposRootUrl,
    ReposUuid,
    ReposSize,
    Revision,
    LastChangedRevision,
    LastChangedDate,
    LastChangedAuthor,
    WcRoot,
    Schedule,
    Depth,
    Changelist,
}

const ITEMS: [(&str, Item); 14] = [
    ("kind", Item::Kind),
    ("url", Item::Url),
    ("relative-url", Item::RelativeUrl),
    ("repos-root-url", Item::ReposRootUrl),
    ("repos-uuid", Item::ReposUuid),
    ("repos-size", Item::ReposSize),
    ("revision", Item::Revision),
    ("last-changed-revision", Item::LastChangedRevision),
    ("last-changed-date", Item::LastChangedDate),
    ("last-changed-author", Item::LastChangedAuthor),
    ("wc-root", Item::WcRoot),
    ("schedule", Item::Schedule),
    ("depth", Item::Depth),
    ("changelist", Item::Changelist),
];

/// Prints a value a node: alone, or in a column before the node's path.
pub(super) struct ItemPrinter {
    item: Item,
    plural: bool,
    human_readable: bool,
    newline_at_end: bool,
    /// Whether a line was begun that is not ended yet.
    in_line: bool,
}

impl ItemPrinter {
    /// Finds the item of a name.
    ///
    /// # Errors
    /// `CL_ARG_PARSING_ERROR` for a name that is none, with those that resemble it.
    pub(super) fn new(name: &str, options: &Options, plural: bool) -> Result<Self> {
        let found = ITEMS.iter().find(|(known, _)| *known == name);
        let (_, item) = found.ok_or_else(|| unknown(name))?;
        Ok(Self {
            item: *item,
            plural,
            human_readable: options.human_readable,
            newline_at_end: !options.no_newline,
            in_line: false,
        })
    }

    /// Returns the value, `None` if there is none.
    fn value(&self, info: &Info) -> Option<String> {
        let wc = info.wc.as_ref();
        match self.item {
            Item::Kind => Some(info.kind.as_str().to_owned()),
            Item::Url => info.url.as_ref().map(ToString::to_string),
            Item::RelativeUrl => relative_url(info),
            Item::ReposRootUrl => info.repos_root.as_ref().map(ToString::to_string),
            Item::ReposUuid => info.repos_uuid.clone(),
            Item::ReposSize => info.size.map(|size| show_size(size, self.human_readable)),
            Item::Revision => info.rev.map(|rev| rev.to_string()),
            Item::LastChangedRevision => info.changed_rev.map(|rev| rev.to_string()),
            Item::LastChangedDate => info.changed_date.map(Timestamp::to_iso),
            Item::LastChangedAuthor => info.changed_author.clone(),
            Item::WcRoot => wc
                .and_then(|wc| wc.root.as_ref())
                .map(|root| root.as_str().to_owned()),
            Item::Schedule => wc.map(|wc| wc.schedule.as_str().to_owned()),
            Item::Depth => wc.filter(|_| info.kind == NodeKind::Dir).map(|wc| {
                wc.depth
                    .map_or("unknown", |depth| depth.as_str())
                    .to_owned()
            }),
            Item::Changelist => wc.and_then(|wc| wc.changelist.clone()),
        }
    }
}

impl Print for ItemPrinter {
    fn info(&mut self, out: &mut Output, at: &Place<'_>, info: &Info) -> Result<()> {
        if self.in_line {
            out.print("\n")?;
        }
        let shown = if at.is_path {
            at.shown()
        } else {
            info.url
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default()
        };
        let value = self.value(info);
        if self.item == Item::ReposSize {
            if info.kind != NodeKind::File || (value.is_none() && self.plural) {
                self.in_line = false;
                return Ok(());
            }
            if value.is_none() {
                return Err(Error::new(
                    ErrorCode::UNSUPPORTED_FEATURE,
                    format!("can't show in-repository size of working copy file '{shown}'"),
                ));
            }
        }
        let value = value.unwrap_or_default();
        if self.plural {
            out.print(format_args!("{value:<10} {shown}"))?;
        } else {
            out.print(value)?;
        }
        self.in_line = true;
        Ok(())
    }

    fn end(&mut self, out: &mut Output) -> Result<()> {
        if self.in_line && self.newline_at_end {
            out.print("\n")?;
        }
        Ok(())
    }
}

fn unknown(name: &str) -> Error {
    let names = ITEMS.map(|(name, _)| name);
    let similar = most_similar(name, &names);
    let hint = match similar.as_slice() {
        [] => String::new(),
        [a] => format!("; did you mean '{a}'?"),
        [a, b] => format!("; did you mean '{a}' or '{b}'?"),
        [a, b, c, ..] => format!("; did you mean '{a}', '{b}' or '{c}'?"),
    };
    Error::new(
        ErrorCode::CL_ARG_PARSING_ERROR,
        format!("'{name}' is not a valid value for --show-item{hint}"),
    )
}

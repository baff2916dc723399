//! A single file from elsewhere in the repository.

use bytes::Bytes;
use rusqlite::params;
use sylvan_core::props::{self, PropKind};
use sylvan_core::{Error, ErrorCode, Md5, NodeKind, Props, RelPath, Result, Revnum, Sha1, skel};
use sylvan_delta::{Applier, Base, CopyFrom, Editor, EmptyBase, SeekBase, TextFormat, Token};
use sylvan_io::file::FileKind;
use sylvan_io::{Cancel, Progress};

use super::editor::{
    PropChanges, accumulate_changed, dav_cache, inherited_skel, out_of_order, patched,
};
use super::entry::Text;
use super::workers::{Sink, checksum_mismatch};
use super::{Outcome, bump};
use crate::db::write::{self as rows, BaseRow, Changed};
use crate::db::{Layer, Presence};
use crate::external::{self, FileExternal};
use crate::install::{self, Recipe, RecipeInfo, Source};
use crate::lock::WcLock;
use crate::notify::{Action, Notification, NotifyFn, State};
use crate::pristine::{self, Store};
use crate::site::{self, Site};
use crate::work_queue::item;
use crate::{WorkingCopy, modified};

/// Texts up to this length stay in memory while they arrive.
const KEEP: usize = 1 << 20;

/// See [`external::update_file`].
pub(crate) fn run(
    wc: &mut WorkingCopy,
    lock: &WcLock,
    file: &FileExternal,
    cancel: &Cancel,
    progress: &Progress,
    notify: &mut NotifyFn<'_>,
    drive: impl FnOnce(&mut dyn Editor) -> Result<()>,
) -> Result<Outcome> {
    debug_assert!(
        file.external.path.starts_with(lock.root()),
        "the lock covers the file"
    );
    let wc = &*wc;
    let site = Site::of(wc)?;
    let mut news = News::default();
    let repos_path = file
        .url
        .strip_prefix(&file.external.repos_root)
        .unwrap_or_default();
    let taken = {
        let mut editor = Collector {
            store: Store::new(&site, false, wc.is_far())?,
            cancel,
            name: file.external.path.basename(),
            pristine: base_text(wc, file)?,
            news: &mut news,
            applier: None,
        };
        drive(&mut editor)
    };
    taken?;
    let rev = news.rev.ok_or_else(out_of_order)?;
    if !news.closed {
        return bump_only(wc, file, &repos_path, rev);
    }
    let store = Store::new(&site, false, wc.is_far())?;
    let outcome = Arrival {
        wc,
        site: &site,
        file,
        repos_path: &repos_path,
        rev,
    }
    .record(&store, news, notify)?;
    progress.add_files(1);
    Ok(outcome)
}

/// Finds the text that a delta applies to.
fn base_text(wc: &WorkingCopy, file: &FileExternal) -> Result<Option<Sha1>> {
    let base = base_layer(wc, file)?;
    Ok(base.map(|base| base.sha1()).transpose()?.flatten())
}

fn base_layer(wc: &WorkingCopy, file: &FileExternal) -> Result<Option<Layer>> {
    let layers = wc.db().layers(&file.external.path)?;
    Ok(layers
        .into_iter()
        .find(|layer| layer.op_depth == 0 && layer.presence.is_present()))
}

/// The file was not sent, but its place and revision may be others.
fn bump_only(
    wc: &WorkingCopy,
    file: &FileExternal,
    repos_path: &RelPath,
    rev: Revnum,
) -> Result<Outcome> {
    let path = &file.external.path;
    let db = wc.db();
    db.write(|| {
        let repos_id =
            external::repository_id(db, &file.external.repos_root, &file.external.repos_uuid)?;
        let inherited = file
            .inherited_props
            .as_ref()
            .map(|inherited| (path.clone(), inherited_skel(inherited)))
            .into_iter()
            .collect();
        bump::one(db, path, repos_id, repos_path, rev, &inherited)?;
        external::insert(db, &file.external, repos_id)
    })?;
    Ok(Outcome {
        rev: Some(rev),
        ..Outcome::default()
    })
}

#[derive(Default)]
struct News {
    rev: Option<Revnum>,
    added: bool,
    closed: bool,
    prop_changes: PropChanges,
    text: Option<Sink>,
    expected: Option<Md5>,
}

/// Takes what the server says of the one file.
struct Collector<'a> {
    store: Store,
    cancel: &'a Cancel,
    name: &'a str,
    pristine: Option<Sha1>,
    news: &'a mut News,
    applier: Option<Applier<Box<dyn Base + Send>>>,
}

impl Collector<'_> {
    fn take(&mut self, path: &RelPath, copy_from: Option<&CopyFrom>, added: bool) -> Result<()> {
        self.cancel.check()?;
        if path.as_str() != self.name || copy_from.is_some() {
            return Err(Error::new(
                ErrorCode::WC_PATH_NOT_FOUND,
                format!("This editor can only update '{}'", self.name),
            ));
        }
        self.news.added = added;
        Ok(())
    }

    fn only_one_file(&self) -> Error {
        Error::new(
            ErrorCode::UNSUPPORTED_FEATURE,
            format!(
                "'{}' is to be a file, but the server sends folders",
                self.name
            ),
        )
    }
}

impl Editor for Collector<'_> {
    fn set_target_revision(&mut self, rev: Revnum) -> Result<()> {
        self.news.rev = Some(rev);
        Ok(())
    }

    fn open_root(&mut self, _: Option<Revnum>, _: Token) -> Result<()> {
        Ok(())
    }

    fn delete_entry(&mut self, path: &RelPath, _: Option<Revnum>, _: Token) -> Result<()> {
        // A replacement begins so.
        if path.as_str() == self.name {
            return Ok(());
        }
        Err(self.only_one_file())
    }

    fn add_directory(
        &mut self,
        _: &RelPath,
        _: Token,
        _: Option<CopyFrom>,
        _: Token,
    ) -> Result<()> {
        Err(self.only_one_file())
    }

    fn open_directory(&mut self, _: &RelPath, _: Token, _: Option<Revnum>, _: Token) -> Result<()> {
        Err(self.only_one_file())
    }

    fn change_dir_prop(&mut self, _: Token, _: &str, _: Option<&[u8]>) -> Result<()> {
        Ok(())
    }

    fn close_directory(&mut self, _: Token) -> Result<()> {
        Ok(())
    }

    fn absent_directory(&mut self, _: &RelPath, _: Token) -> Result<()> {
        Err(self.only_one_file())
    }

    fn add_file(
        &mut self,
        path: &RelPath,
        _: Token,
        copy_from: Option<CopyFrom>,
        _: Token,
    ) -> Result<()> {
        self.take(path, copy_from.as_ref(), true)
    }

    fn open_file(&mut self, path: &RelPath, _: Token, _: Option<Revnum>, _: Token) -> Result<()> {
        self.take(path, None, false)
    }

    fn apply_text(&mut self, _: Token, _: Option<Md5>, format: TextFormat) -> Result<()> {
        let base: Box<dyn Base + Send> = match &self.pristine {
            Some(sha1) if !self.news.added => Box::new(SeekBase::new(self.store.open(sha1)?)),
            _ => Box::new(EmptyBase),
        };
        self.applier = Some(Applier::new(format, base));
        self.news.text = Some(Sink::new(KEEP, Vec::new()));
        Ok(())
    }

    fn text_chunk(&mut self, _: Token, chunk: Bytes) -> Result<()> {
        self.cancel.check()?;
        match (&mut self.applier, &mut self.news.text) {
            (Some(applier), Some(sink)) => {
                applier.push(&chunk, |piece| sink.write(piece, &self.store))
            }
            _ => Err(out_of_order()),
        }
    }

    fn text_end(&mut self, _: Token) -> Result<()> {
        self.applier
            .take()
            .map_or_else(|| Err(out_of_order()), |applier| applier.finish())
    }

    fn change_file_prop(&mut self, _: Token, name: &str, value: Option<&[u8]>) -> Result<()> {
        self.news
            .prop_changes
            .push((name.to_owned(), value.map(<[u8]>::to_vec)));
        Ok(())
    }

    fn close_file(&mut self, _: Token, text: Option<Md5>) -> Result<()> {
        self.news.closed = true;
        self.news.expected = text;
        Ok(())
    }

    fn absent_file(&mut self, _: &RelPath, _: Token) -> Result<()> {
        Ok(())
    }

    fn close_edit(&mut self) -> Result<()> {
        Ok(())
    }

    fn abort_edit(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A file that has arrived.
struct Arrival<'a> {
    wc: &'a WorkingCopy,
    site: &'a Site,
    file: &'a FileExternal,
    repos_path: &'a RelPath,
    rev: Revnum,
}

/// What is done with the working file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Working {
    Install,
    Keep,
    Obstructed,
}

impl Arrival<'_> {
    fn record(&self, store: &Store, news: News, notify: &mut NotifyFn<'_>) -> Result<Outcome> {
        let (wc, db) = (self.wc, self.wc.db());
        let path = &self.file.external.path;
        let local = wc.local_path(path);
        let old = base_layer(wc, self.file)?.filter(|_| !news.added);
        let has_text = news.text.is_some();
        let text = news.text.map(|sink| sink.put(store, db)).transpose()?;
        if let (Some(text), Some(expected)) = (&text, news.expected)
            && !expected.allows(text.md5)
        {
            return Err(checksum_mismatch(local.as_path(), expected, text.md5));
        }
        let base_props = old
            .as_ref()
            .map_or_else(|| Ok(Props::new()), Layer::props)?;
        let props = patched(&base_props, &news.prop_changes, false);
        let mut changed = old.as_ref().map(Layer::changed).unwrap_or_default();
        accumulate_changed(&mut changed, &news.prop_changes)?;
        let working = self.working(old.as_ref(), has_text, props != base_props)?;
        let item = self.write(
            old.as_ref(),
            text.as_ref(),
            &props,
            &changed,
            &news.prop_changes,
            working,
        )?;
        if let Some(item) = item {
            self.install(text.as_ref(), &props, &changed, item)?;
        }
        self.tell(&news.prop_changes, old.as_ref(), has_text, working, notify);
        Ok(Outcome {
            rev: Some(self.rev),
            edited: true,
            ..Outcome::default()
        })
    }

    fn working(&self, old: Option<&Layer>, has_text: bool, props: bool) -> Result<Working> {
        let path = &self.file.external.path;
        let local = self.wc.local_path(path);
        if !has_text && !props {
            return Ok(Working::Keep);
        }
        let found = site::kind(self.site.root.lstat(path)?);
        match (found, old) {
            (None, _) => Ok(Working::Install),
            (Some(FileKind::File | FileKind::Symlink), Some(old)) => {
                if modified::is_modified(self.wc, self.site, path, old)? {
                    return Err(Error::new(
                        ErrorCode::WC_FOUND_CONFLICT,
                        format!(
                            "Can't update '{local}': it has local changes, which are not merged yet"
                        ),
                    ));
                }
                Ok(Working::Install)
            }
            _ => Ok(Working::Obstructed),
        }
    }

    fn write(
        &self,
        old: Option<&Layer>,
        text: Option<&Text>,
        props: &Props,
        changed: &Changed,
        changes: &PropChanges,
        working: Working,
    ) -> Result<Option<i64>> {
        let db = self.wc.db();
        let external = &self.file.external;
        let old_text = old.map(Layer::sha1).transpose()?.flatten();
        let props = skel::props_to_skel(props);
        let dav = dav_cache(changes);
        let inherited = self.file.inherited_props.as_ref().map(inherited_skel);
        db.write(|| {
            let repos_id = external::repository_id(db, &external.repos_root, &external.repos_uuid)?;
            if let Some(text) = text {
                db.put_pristine(&text.sha1, &text.md5, text.size, 0)?;
            }
            let mut row = BaseRow::new(
                &external.path,
                repos_id,
                self.repos_path.as_str(),
                self.rev,
                Presence::Normal,
                NodeKind::File,
            );
            row.changed = Some(changed);
            row.props = Some(&props);
            row.dav_cache = dav.as_deref();
            row.inherited_props = inherited.as_deref();
            row.checksum = text.map(|text| &text.sha1).or(old_text.as_ref());
            row.file_external = true;
            if working == Working::Keep {
                row.recorded = old.and_then(Layer::recorded);
            }
            db.put_base(&row, true)?;
            external::insert(db, external, repos_id)?;
            (working == Working::Install)
                .then(|| {
                    let times = self.wc.options().use_commit_times;
                    db.put_work_item(&item::file_install(&external.path, times, true))
                })
                .transpose()
        })
    }

    fn install(
        &self,
        text: Option<&Text>,
        props: &Props,
        changed: &Changed,
        item: i64,
    ) -> Result<()> {
        let (wc, db) = (self.wc, self.wc.db());
        let external = &self.file.external;
        let recipe = Recipe::new(
            props,
            &RecipeInfo {
                repos_root: &external.repos_root,
                repos_path: Some(self.repos_path),
                changed,
                locked: false,
                use_commit_times: wc.options().use_commit_times,
                zone: &wc.options().time_zone,
            },
        );
        let sha1 = match text {
            Some(text) => text.sha1,
            None => base_layer(wc, self.file)?
                .map(|base| base.sha1())
                .transpose()?
                .flatten()
                .ok_or_else(out_of_order)?,
        };
        let recorded = install::by_rename(
            &self.site.root,
            &external.path,
            Source::File(&self.site.adm, &pristine::path(&sha1)?),
            &recipe,
            self.site.tmp(),
        )?;
        db.write(|| {
            if let Some((size, time)) = recorded {
                db.execute(
                    rows::RECORD_BASE_FILE_INFO,
                    params![db.wc_id(), external.path.as_str(), size, time],
                )?;
            }
            db.delete_work_items(vec![item])
        })
    }

    fn tell(
        &self,
        changes: &PropChanges,
        old: Option<&Layer>,
        has_text: bool,
        working: Working,
        notify: &mut NotifyFn<'_>,
    ) {
        let action = match (old.is_some(), working) {
            (true, Working::Obstructed) => Action::UpdateShadowedUpdate,
            (true, _) => Action::UpdateUpdate,
            (false, Working::Obstructed) => Action::UpdateShadowedAdd,
            (false, _) => Action::UpdateAdd,
        };
        let content = if has_text && working != Working::Obstructed {
            State::Changed
        } else {
            State::Unchanged
        };
        let regular = |name: &String| PropKind::of(name) == PropKind::Regular;
        let properties = if changes.iter().any(|(name, _)| regular(name)) {
            State::Changed
        } else {
            State::Unknown
        };
        let local = self.wc.local_path(&self.file.external.path);
        let mut notification = Notification::new(local, action)
            .kind(NodeKind::File)
            .states(content, properties)
            .revs(old.and_then(|old| old.revision), Some(self.rev));
        let mime_type = changes
            .iter()
            .find(|(name, _)| name == props::SVN_MIME_TYPE)
            .and_then(|(_, value)| value.as_ref());
        notification.mime_type = mime_type.map(|value| String::from_utf8_lossy(value).into_owned());
        notify(&notification);
    }
}

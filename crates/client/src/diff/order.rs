//! Keeping changes in the order in which their nodes were met.
//!
//! Over HTTP the content of a file may arrive after those that follow it. What is ready waits here
//! until all before it was told.

use std::collections::VecDeque;

use sylvan_core::{RelPath, Result};

use super::change::{Change, Pipe, Take};

/// Changes in order; those that are not ready yet hold up the others.
#[derive(Debug, Default)]
pub(super) struct Order {
    queue: VecDeque<Place>,
    /// How many were taken out at the front.
    gone: usize,
}

#[derive(Debug)]
enum Place {
    Waiting,
    Ready(Option<Box<Change>>),
}

/// A place kept for a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kept(usize);

impl Order {
    /// Keeps a place.
    pub(super) fn keep(&mut self) -> Kept {
        self.queue.push_back(Place::Waiting);
        Kept(self.gone + self.queue.len() - 1)
    }

    /// Puts a change, or that there is none, in its place.
    pub(super) fn settle(
        &mut self,
        kept: Kept,
        change: Option<Change>,
        pipe: &mut Pipe<'_>,
    ) -> Result<()> {
        if let Some(place) = kept
            .0
            .checked_sub(self.gone)
            .and_then(|at| self.queue.get_mut(at))
        {
            *place = Place::Ready(change.map(Box::new));
        }
        while let Some(place) = self
            .queue
            .pop_front_if(|place| matches!(place, Place::Ready(_)))
        {
            self.gone += 1;
            if let Place::Ready(Some(change)) = place {
                pipe.take(*change)?;
            }
        }
        Ok(())
    }

    /// Adds a change that is ready.
    pub(super) fn push(&mut self, change: Change, pipe: &mut Pipe<'_>) -> Result<()> {
        if self.queue.is_empty() {
            return pipe.take(change);
        }
        let kept = self.keep();
        self.settle(kept, Some(change), pipe)
    }
}

/// Takes changes into the order.
pub(super) struct Ordered<'o, 'p> {
    pub(super) order: &'o mut Order,
    pub(super) pipe: &'o mut Pipe<'p>,
}

impl Take for Ordered<'_, '_> {
    fn wants_texts(&self) -> bool {
        self.pipe.wants_texts()
    }

    fn wants(&self, path: &RelPath, changelist: Option<&str>) -> bool {
        self.pipe.wants(path, changelist)
    }

    fn take(&mut self, change: Change) -> Result<()> {
        self.order.push(change, self.pipe)
    }
}

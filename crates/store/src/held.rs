//! Layers that wait for a person: applied with `commit`, dropped with `discard`.

use std::os::fd::AsFd;
use std::sync::Arc;

use crate::error::{At, UndoError};
use crate::journal::{self, Journal};
use crate::layer::{Layer, LayerPlan, folder};
use crate::record::file::{self, RecordFile};
use crate::record::{Entry, Phase, Record, RecordId};
use crate::recording::Recording;
use crate::system;

impl Journal {
    /// Records whose layers wait, newest first.
    pub fn held(&self) -> Result<Vec<Record>, UndoError> {
        Ok(self.log()?.into_iter().filter(|record| record.phase == Phase::Held).collect())
    }

    /// What committing a held record would do.
    pub fn held_plan(&self, id: RecordId) -> Result<LayerPlan, UndoError> {
        self.held_layer(&self.record(id)?)?.plan()
    }

    /// Applies a layer that was held. On a conflict it goes on waiting.
    pub fn commit(&self, id: RecordId) -> Result<LayerPlan, UndoError> {
        let layer = self.held_layer(&self.record(id)?)?;
        let file = self.take(id)?;
        let outcome = file.record.outcome.clone().unwrap_or_default();
        let recording = Recording::resume(Arc::clone(&self.ground), file);
        match recording.apply(&layer) {
            Ok(plan) => {
                recording.finish(outcome)?;
                layer.discard()?;
                Ok(plan)
            }
            Err(error) => {
                drop(recording);
                journal::settle(&self.ground, id)?;
                Err(error)
            }
        }
    }

    /// Drops a layer that was held.
    pub fn discard(&self, id: RecordId) -> Result<(), UndoError> {
        let layer = self.held_layer(&self.record(id)?)?;
        let mut file = self.take(id)?;
        file.append(vec![Entry::Phase { phase: Phase::Discarded, time: system::now() }])?;
        folder::remove(&self.ground, &layer.name)?;
        journal::settle(&self.ground, id)
    }

    pub(crate) fn held_layer(&self, record: &Record) -> Result<Layer, UndoError> {
        match (&record.layer, record.phase) {
            (Some(layer), Phase::Held) => Layer::held(&self.ground, layer.folder.as_ref()),
            (_, phase) => Err(UndoError::WrongPhase { id: record.id, phase, wanted: "held" }),
        }
    }

    fn take(&self, id: RecordId) -> Result<RecordFile, UndoError> {
        let (folders, name) = (self.ground.folders()?, file::name(id));
        system::rename(folders.log()?, name.as_bytes(), &folders.busy, name.as_bytes())
            .at("work on the record", name.as_bytes())?;
        RecordFile::open_settled(folders.busy.as_fd(), id)
    }
}

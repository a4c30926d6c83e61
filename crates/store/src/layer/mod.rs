//! What programs have written: the upper layer of an overlay, brought into the tree as steps of a record.
//!
//! [`making`] makes the layer's folder, or takes a [`spare`] one, [`folder`] is what can be done with it, [`plan`] reads it from outside when all programs are dead, [`apply`] brings it in.

pub(crate) mod apply;
mod clean;
pub(crate) mod folder;
mod inside;
mod making;
pub(crate) mod marks;
pub(crate) mod plan;
mod spare;

pub use folder::{Dismissed, Layer, Reuse};
pub use making::LayerAhead;
pub use plan::{LayerPlan, Planned};

//! What programs have written: the upper layer of an overlay, brought into the tree as steps of a record.
//!
//! [`folder`] makes the layer's folder, [`plan`] reads it from outside when all programs are dead, [`apply`] brings it in.

pub(crate) mod apply;
mod clean;
pub(crate) mod folder;
mod inside;
mod marks;
pub(crate) mod plan;

pub use folder::{Dismissed, Layer};
pub use plan::{LayerPlan, Planned};

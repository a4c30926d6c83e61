//! Tests that need to stop at any operation, and so live inside the crate. Shapes are data: `tests/shapes/`.

#![expect(clippy::disallowed_methods, reason = "tests make and look at real trees")]

mod ahead;
mod append;
mod behaviour;
mod changes;
mod crash;
mod direct;
mod layers;
mod mirror_crash;
mod mirrors;
mod project;
mod script;

#[path = "../../tests/tree/mod.rs"]
mod tree;

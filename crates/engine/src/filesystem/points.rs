//! The places a script can name, by text alone: directories that are mounted, and devices.

use std::io;

use bstr::{BStr, BString, ByteSlice};

use super::device::Device;
use super::mounts::TEMPORARY;
use super::path;

/// Mount points, longest first: the project may itself lie under `/tmp`.
pub(crate) struct Points(Vec<BString>);

/// Where a path leads by its text: which mount and what is left of the path, or a device.
pub(crate) enum Found<'a> {
    Mount(usize, &'a BStr),
    Device(Device),
}

impl Points {
    /// `/tmp`, and the project if there is one.
    pub(crate) fn of(root: &BString, granted: bool) -> Self {
        let mut points = vec![BString::from(TEMPORARY)];
        if granted {
            points.push(root.clone());
        }
        Self::new(points)
    }

    fn new(mut points: Vec<BString>) -> Self {
        points.sort_by_key(|point| std::cmp::Reverse(point.len()));
        Points(points)
    }

    /// `ENOENT` for what is outside, and for text that can be no path.
    pub(crate) fn find<'a>(&self, path: &'a BStr) -> io::Result<Found<'a>> {
        if path.contains(&0) {
            return Err(super::missing());
        }
        for (index, point) in self.0.iter().enumerate() {
            if let Some(rest) = path::strip_point(path, point.as_bstr()) {
                return Ok(Found::Mount(index, rest));
            }
        }
        Device::find(path).map(Found::Device)
    }

    pub(crate) fn get(&self, mount: usize) -> &BStr {
        self.0.get(mount).map_or(BStr::new("/"), |point| point.as_bstr())
    }

    pub(crate) fn position(&self, point: &BStr) -> Option<usize> {
        self.0.iter().position(|known| known == point)
    }
}

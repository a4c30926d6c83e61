//! What comes from the tree below: nodes on first sight, content on first change.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bstr::{BString, ByteSlice};
use exacta_shell::errno;
use exacta_shell::filesystem::{FileKind, FileSystem, Follow, Metadata, OpenFile, OpenOptions};

use super::content::{Blob, Content};
use super::node::{Body, Node};
use super::tree::Tree;

impl Tree {
    /// A node for what the lower tree has at `path`, if it has anything there.
    pub(super) fn node_of_lower(&self, path: BString) -> io::Result<Option<Arc<Node>>> {
        let Some(lower) = &self.lower else { return Ok(None) };
        let metadata = match lower.metadata(path.as_bstr(), Follow::No) {
            Ok(metadata) => metadata,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        if metadata.kind == FileKind::File && metadata.links > 1 {
            let mut linked = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
            let node = linked.entry((metadata.device, metadata.inode)).or_insert_with(|| {
                let body = Body::File(Mutex::new(Content::Lower));
                Arc::new(Node::from_lower(path, &metadata, body))
            });
            return Ok(Some(Arc::clone(node)));
        }
        let body = body_of(&**lower, &path, &metadata)?;
        Ok(Some(Arc::new(Node::from_lower(path, &metadata, body))))
    }

    /// The file in the lower tree, for reading.
    pub(super) fn open_lower(&self, node: &Node) -> io::Result<Arc<dyn OpenFile>> {
        match (&self.lower, &node.lower) {
            (Some(lower), Some(path)) => {
                let options = OpenOptions { no_follow: true, ..OpenOptions::reading() };
                lower.open(path.as_bstr(), options)
            }
            _ => Err(crate::filesystem::missing()),
        }
    }

    /// The bytes of a file, brought up from the lower tree if they are still there.
    pub(super) fn copy_up<'a>(
        &self,
        node: &Node,
        content: &'a mut Content,
    ) -> io::Result<&'a mut Blob> {
        if let Content::Lower = content {
            let file = self.open_lower(node)?;
            let mut blob = Blob::new(&self.budget);
            let mut buffer = vec![0; 256 << 10];
            loop {
                let count = file.read(&mut buffer)?;
                if count == 0 {
                    break;
                }
                blob.write(blob.len(), buffer.get(..count).unwrap_or_default())?;
            }
            *content = Content::Here(blob);
        }
        match content {
            Content::Here(blob) => Ok(blob),
            Content::Lower => Err(errno::error(errno::EIO)),
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    errno::is(error, errno::ENOENT) || errno::is(error, errno::ENOTDIR)
}

fn body_of(lower: &dyn FileSystem, path: &BString, metadata: &Metadata) -> io::Result<Body> {
    Ok(match metadata.kind {
        FileKind::File => Body::File(Mutex::new(Content::Lower)),
        FileKind::Directory => Body::Directory(Mutex::default()),
        FileKind::Symlink => Body::Symlink(lower.read_link(path.as_bstr())?),
        other => Body::Other(other),
    })
}

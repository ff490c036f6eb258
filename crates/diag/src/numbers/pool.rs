//! Buffers that jobs running in parallel take and give back.

use std::sync::Mutex;

/// A pool of as many `W` as jobs run at the same time. (rayon's `map_init` makes one each time that it divides the
/// work, and large buffers are costly to make: the system must clear their pages.)
pub(crate) struct WorkspacePool<W, M> {
    make: M,
    idle: Mutex<Vec<W>>,
}

impl<W, M: Fn() -> W> WorkspacePool<W, M> {
    /// An empty pool; `make` makes what it lacks.
    pub(crate) fn new(make: M) -> Self {
        Self { make, idle: Mutex::new(Vec::new()) }
    }

    /// Calls `f` with a `W` that no other job has, and returns the result.
    pub(crate) fn with<T>(&self, f: impl FnOnce(&mut W) -> T) -> T {
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        let mut one = idle.unwrap_or_else(&self.make);
        let found = f(&mut one);
        // Where a job panicked meanwhile, the lock is poisoned and nothing will be taken any more.
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(one);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn makes_only_what_it_lacks() {
        let made = Cell::new(0);
        let pool = WorkspacePool::new(|| {
            made.set(made.get() + 1);
            Vec::new()
        });
        pool.with(|first| {
            first.push(1);
            pool.with(|second| second.push(2));
        });
        let mut left: Vec<Vec<i32>> = Vec::new();
        pool.with(|one| pool.with(|other| left = vec![one.clone(), other.clone()]));
        left.sort();
        assert_eq!((left, made.get()), (vec![vec![1], vec![2]], 2));
    }
}

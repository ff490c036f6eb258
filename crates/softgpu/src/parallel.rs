//! Several builds at a time.

use crate::unavailable::Unavailable;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// `work` of each item on all cores, in the items' order; of several errors that of the first item. After an error no
/// item is begun.
pub(crate) fn on_all_cores<I: Sync, O: Send>(
    items: &[I],
    work: impl Fn(&I) -> Result<O, Unavailable> + Sync,
) -> Result<Vec<O>, Unavailable> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    let result = work(item);
                    if result.is_err() {
                        next.store(items.len(), Ordering::Relaxed);
                    }
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_items_order_and_the_first_error_counts() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(on_all_cores(&items, |item| Ok(item * 2)).unwrap()[99], 198);
        let fail = |item: &usize| match item {
            40.. => Err(Unavailable::NoUnit { name: item.to_string() }),
            _ => Ok(()),
        };
        let error = on_all_cores(&items, fail).unwrap_err();
        assert_eq!(error.to_string(), "there is no kernels/nuts/units/40.cu");
    }
}

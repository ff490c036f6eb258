//! Asking for memory before it is needed.

/// Asks that the second-level cache have the line with `value`. Nothing is asked of processors other than x86's.
#[inline(always)]
pub(crate) fn prefetch(value: &f64) {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse) = pulp::core_arch::x86::Sse::try_new() {
        sse._mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>((&raw const *value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

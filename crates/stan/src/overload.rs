//! Which signature a call has: the one that fits with the fewest integers made reals.

use crate::signatures::{ArgumentType, Signature};
use std::cmp::Reverse;

/// What fits.
pub(crate) enum Match<T> {
    /// One fits best.
    One(T, Signature),
    /// Several fit equally well.
    Several(Vec<Signature>),
    /// None fits: the nearest first, each with what is wrong.
    None(Vec<(Signature, Mismatch)>),
}

/// Why a signature does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mismatch {
    /// It takes another number of arguments.
    Count,
    /// The argument of this number, counted from 0, has another type.
    Type(usize),
    /// The argument of this number depends on parameters and must not.
    Data(usize),
}

/// Types that are named as expected at the most.
const MOST_TYPES: usize = 6;

/// Candidates that are shown.
const SHOWN: usize = 3;

/// Chooses among candidates, each with what it belongs to.
pub(crate) fn choose<'a, T: Copy>(
    candidates: impl Iterator<Item = (T, &'a Signature)> + Clone,
    actual: &[ArgumentType],
) -> Match<T> {
    let mut best: Vec<(T, &Signature)> = Vec::new();
    let mut fewest = usize::MAX;
    for (owner, signature) in candidates.clone() {
        match promotions(&signature.arguments, actual) {
            Ok(count) if count < fewest => {
                fewest = count;
                best = vec![(owner, signature)];
            }
            Ok(count) if count == fewest => best.push((owner, signature)),
            Ok(_) | Err(_) => {}
        }
    }
    match best.as_slice() {
        [(owner, signature)] => Match::One(*owner, (*signature).clone()),
        [] => Match::None(nearest(candidates.map(|(_, signature)| signature), actual)),
        several => Match::Several(several.iter().take(SHOWN).map(|(_, signature)| (*signature).clone()).collect()),
    }
}

/// Signatures that do not fit, the nearest first.
fn nearest<'a>(candidates: impl Iterator<Item = &'a Signature>, actual: &[ArgumentType]) -> Vec<(Signature, Mismatch)> {
    let wrong = |signature: &'a Signature| Some((signature, promotions(&signature.arguments, actual).err()?));
    let mut wrong: Vec<_> = candidates.filter_map(wrong).collect();
    wrong.sort_by_cached_key(|(signature, mismatch)| distance(signature, *mismatch, actual));
    wrong.into_iter().take(SHOWN).map(|(signature, mismatch)| (signature.clone(), mismatch)).collect()
}

/// The types that argument `at` may have beside the others as they are, in words; empty if there are none or many.
pub(crate) fn accepted<'a, T>(
    candidates: impl Iterator<Item = (T, &'a Signature)>,
    actual: &[ArgumentType],
    at: usize,
) -> String {
    let mut types = Vec::new();
    for (_, signature) in candidates {
        let Some(wanted) = signature.arguments.get(at) else { continue };
        let mut others = actual.to_vec();
        others[at] = *wanted;
        if promotions(&signature.arguments, &others).is_ok() && !types.contains(&wanted.ty) {
            types.push(wanted.ty);
        }
    }
    types.sort_unstable();
    let names: Vec<String> = types.iter().map(|ty| format!("`{ty}`")).collect();
    if names.len() > MOST_TYPES { String::new() } else { names.join(" or ") }
}

/// How many integers must be made reals.
fn promotions(wanted: &[ArgumentType], actual: &[ArgumentType]) -> Result<usize, Mismatch> {
    if wanted.len() != actual.len() {
        return Err(Mismatch::Count);
    }
    let mut count = 0;
    for (at, (wanted, actual)) in wanted.iter().zip(actual).enumerate() {
        if !actual.ty.becomes(wanted.ty) {
            return Err(Mismatch::Type(at));
        }
        if wanted.is_data && !actual.is_data {
            return Err(Mismatch::Data(at));
        }
        count += usize::from(wanted.ty != actual.ty);
    }
    Ok(count)
}

/// How far a signature is from what was given. A wrong number of arguments is farthest; then few wrong types are near,
/// then late ones, then containers of the right dimensions.
fn distance(
    signature: &Signature,
    mismatch: Mismatch,
    actual: &[ArgumentType],
) -> (usize, usize, Reverse<usize>, usize) {
    let pairs = signature.arguments.iter().zip(actual).enumerate();
    let wrong: Vec<_> = pairs.filter(|(_, (wanted, actual))| !actual.ty.becomes(wanted.ty)).collect();
    let dimensions =
        wrong.iter().map(|(_, (wanted, actual))| wanted.ty.dimensions().abs_diff(actual.ty.dimensions())).sum();
    let first = wrong.first().map_or(usize::MAX, |(at, _)| *at);
    let missing = signature.arguments.len().abs_diff(actual.len());
    let is_of_data = usize::from(matches!(mismatch, Mismatch::Data(_)));
    (missing, wrong.len() + is_of_data, Reverse(first), dimensions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signatures;
    use crate::types::StanType;

    fn chosen(name: &str, types: &[StanType]) -> Result<String, usize> {
        let actual: Vec<_> = types.iter().map(|&ty| ArgumentType { ty, is_data: false }).collect();
        match choose(signatures::of(name).iter().map(|signature| ((), signature)), &actual) {
            Match::One((), signature) => Ok(signature.to_string()),
            Match::Several(several) => Err(several.len()),
            Match::None(_) => Err(0),
        }
    }

    #[test]
    fn the_fewest_promotions_win() {
        assert_eq!(chosen("add", &[StanType::INT, StanType::INT]), Ok("(int, int) => int".into()));
        assert_eq!(chosen("add", &[StanType::INT, StanType::REAL]), Ok("(real, real) => real".into()));
        assert_eq!(
            chosen("multiply", &[StanType::ROW_VECTOR, StanType::VECTOR]),
            Ok("(row_vector, vector) => real".into())
        );
        assert_eq!(chosen("add", &[StanType::VECTOR, StanType::MATRIX]), Err(0));
    }

    #[test]
    fn the_nearest_candidate_comes_first() {
        let actual = [StanType::VECTOR, StanType::MATRIX, StanType::REAL].map(|ty| ArgumentType { ty, is_data: true });
        let of = signatures::of("normal_lpdf").iter().map(|signature| ((), signature));
        let Match::None(nearest) = choose(of, &actual) else { panic!("it fits") };
        assert_eq!(nearest[0].1, Mismatch::Type(1));
        assert_eq!(nearest[0].0.arguments[0].ty, StanType::VECTOR);
    }
}

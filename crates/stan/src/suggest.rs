//! "Did you mean": the known name that is nearest to an unknown one.

/// Help that names the nearest of the candidates, if one is near: a third of the letters may differ.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // Names of the length of a page have no neighbours.
    if name.len() > 64 {
        return None;
    }
    let most = (name.chars().count() / 3).clamp(1, 4);
    let distance = |candidate: &&str| {
        if candidate.len().abs_diff(name.len()) > most {
            return usize::MAX;
        }
        let swapped_case = candidate.eq_ignore_ascii_case(name);
        if swapped_case { 0 } else { strsim::damerau_levenshtein(name, candidate) }
    };
    let best = candidates.into_iter().map(|candidate| (distance(&candidate), candidate)).min()?;
    // A name of one letter is near to every other.
    let is_near = best.0 <= most && (best.0 == 0 || best.0 < name.chars().count());
    is_near.then(|| format!("did you mean `{}`?", best.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["sigma", "tau", "Sigma_inv"];
        assert_eq!(nearest("sgima", names.into_iter()), Some("did you mean `sigma`?".into()));
        assert_eq!(nearest("TAU", names.into_iter()), Some("did you mean `tau`?".into()));
        assert_eq!(nearest("omega", names.into_iter()), None);
        assert_eq!(nearest("x", ["y"].into_iter()), None);
    }
}

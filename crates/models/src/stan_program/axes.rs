//! Labels of the data on the axes of a program's variables.

use super::table::LabelledSize;
use octopus_bind::DeclaredVariable;
use octopus_density::{Dim, Variable};
use octopus_stan::{ProgramBlock, StanProgram};

/// Gives each axis whose size is a number of labels the labels, and the name of their column.
pub(super) fn name_axes(variables: &mut [Variable], program: &StanProgram, labelled: &[LabelledSize]) {
    let blocks = [ProgramBlock::Parameters, ProgramBlock::TransformedParameters, ProgramBlock::GeneratedQuantities];
    let declared: Vec<_> = blocks.into_iter().flat_map(|block| DeclaredVariable::in_block(program, block)).collect();
    for variable in variables {
        let own = declared.iter().find(|declared| declared.name == variable.name);
        if let Some(own) = own.filter(|own| own.sizes.len() == variable.dims.len()) {
            let sizes: Vec<Option<&str>> = own.sizes.iter().map(|size| size.variable.as_deref()).collect();
            label(&mut variable.dims, &sizes, labelled);
        }
    }
}

fn label(dims: &mut [Dim], sizes: &[Option<&str>], labelled: &[LabelledSize]) {
    let mut used: Vec<&str> = Vec::new();
    for (dim, size) in dims.iter_mut().zip(sizes) {
        let fits = |one: &&LabelledSize| Some(one.size.as_str()) == *size && one.labels.len() == dim.labels.len();
        let Some(found) = labelled.iter().find(fits) else { continue };
        dim.labels = found.labels.clone();
        // A variable has an axis once, and these two are every trace's.
        if !used.contains(&found.column.as_str()) && !["chain", "draw"].contains(&found.column.as_str()) {
            dim.name.clone_from(&found.column);
            used.push(&found.column);
        }
    }
}

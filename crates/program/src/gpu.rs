//! A program on a GPU: its instructions are put into the text of generic kernels, which `kernels/nuts/program.cuh` is
//! compiled to.

use crate::density::ProgramDensity;
use crate::kernel::{BodySite, KernelBody, KernelRefusal};
use octopus_density::gpu::{GpuDensity, KernelField, KernelModule, KernelRoom, KernelTextError};
use octopus_density::{LogDensity, kernel_modules, warp};
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hasher};

static MODULES: &[KernelModule] = kernel_modules!("../../../kernels/ptx/nuts_program":
    F64 "f64" { 32 x 1 32 x 4 32 x 8 128 x 4 128 x 8 }
);

/// What a program has on a GPU.
#[derive(Debug)]
pub(crate) struct ProgramKernels {
    /// The log density and its gradient.
    density: KernelBody,
    /// From the form of the effects to the density's own coordinates; none for a program without effects.
    natural: Option<KernelBody>,
    /// The coordinate of each effect.
    places: Vec<u32>,
    /// All that the bodies read, one after the other.
    reals: Vec<f64>,
    words: Vec<u32>,
    room: KernelRoom,
    form: String,
}

impl ProgramKernels {
    /// Writes the program's instructions.
    ///
    /// # Errors
    /// When it has operations that have none, or too many.
    pub(crate) fn new(density: &ProgramDensity) -> Result<Self, KernelRefusal> {
        let lanes = warp::lanes(density.dim()) as u32;
        let effects = density.program_effects();
        let own = density.program().kernel(lanes)?;
        let natural = effects.map(|effects| effects.natural_kernel(lanes)).transpose()?;
        let places = effects.map_or_else(Vec::new, |effects| effects.places().iter().map(|&at| at as u32).collect());
        let bodies = || [Some(&own), natural.as_ref()].into_iter().flatten();
        let room =
            KernelRoom { numbers: bodies().map(|body| body.scratch).max().unwrap_or(0), inputs: 4 * places.len() };
        let mut hasher = DefaultHasher::new();
        bodies().for_each(|body| body.hash_text(&mut hasher));
        Ok(Self {
            reals: bodies().flat_map(|body| body.constants.iter().copied()).collect(),
            words: bodies().flat_map(|body| body.words.iter().copied()).collect(),
            form: format!("{:016x}", hasher.finish()),
            density: own,
            natural,
            places,
            room,
        })
    }

    /// Puts the instructions where a text has markers.
    fn complete(&self, text: &str) -> String {
        let mut whole = String::with_capacity(text.len() + 8 * self.density.statements * 32);
        for (number, line) in (0..).zip(text.lines()) {
            match Marker::of(line) {
                None => whole.push_str(line),
                Some(marker) => self.put(&marker, number, &mut whole),
            }
            whole.push('\n');
        }
        whole
    }

    fn put(&self, marker: &Marker<'_>, number: u32, whole: &mut String) {
        let Marker { what, registers: [value, reals, words, inputs, scratch, lane] } = *marker;
        let (body, first) = match (what, &self.natural) {
            ("natural", Some(natural)) => (natural, &self.density),
            ("natural", None) => return,
            _ => {
                let site = BodySite { number, value, constants: reals, words, inputs, scratch, lane };
                whole.push_str(&self.density.at(&site));
                return;
            }
        };
        // Its numbers come after the first one's.
        let (own_reals, own_words) = (format!("%rd_reals_{number}"), format!("%rd_words_{number}"));
        let site = BodySite { number, value, constants: &own_reals, words: &own_words, inputs, scratch, lane };
        let (reals_before, words_before) = (8 * first.constants.len(), 4 * first.words.len());
        whole.push_str(&format!(
            "{{\n.reg .b64 {own_reals};\n.reg .b64 {own_words};\nadd.s64 {own_reals}, {reals}, {reals_before};\n\
             add.s64 {own_words}, {words}, {words_before};\n{}\n}}",
            body.at(&site)
        ));
    }
}

/// A line of a text where a program's instructions belong.
struct Marker<'a> {
    what: &'a str,
    /// Value, data, tables, inputs, memory and lane.
    registers: [&'a str; 6],
}

impl<'a> Marker<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let mut words = line.trim().strip_prefix("// OCTOPUS_PROGRAM ")?.split_whitespace();
        let what = words.next()?;
        let registers: Vec<&str> = words.map(|word| word.trim_end_matches([',', ';'])).collect();
        Some(Self { what, registers: registers.try_into().ok()? })
    }
}

impl GpuDensity for ProgramDensity {
    fn kernel_name(&self) -> &str {
        "program"
    }

    /// A number of the program's own: no two programs cost the same.
    fn form(&self) -> &str {
        self.gpu().map_or("", |kernels| &kernels.form)
    }

    fn kernel_modules(&self) -> &[KernelModule] {
        MODULES
    }

    fn missing(&self) -> Option<String> {
        self.gpu().err().map(ToString::to_string)
    }

    /// `ProgramFields`.
    fn kernel_data(&self) -> Vec<KernelField<'_>> {
        let Ok(ProgramKernels { places, reals, words, .. }) = self.gpu() else { return Vec::new() };
        vec![
            KernelField::Word(self.dim() as u32),
            KernelField::Word(places.len() as u32),
            KernelField::Words(places[..].into()),
            KernelField::Reals(reals[..].into()),
            KernelField::Words(words[..].into()),
        ]
    }

    fn kernel_text(&self, module: &KernelModule) -> Result<Cow<'static, str>, KernelTextError> {
        let text = module.ptx.text()?;
        match self.gpu() {
            Ok(kernels) => Ok(kernels.complete(&text).into()),
            Err(_) => Ok(text),
        }
    }

    fn room(&self) -> Option<KernelRoom> {
        self.gpu().ok().map(|kernels| kernels.room)
    }
}

//! Arrays to and from NumPy, named in `OCTOPUS_PYTHON` (it comes with ArviZ).

use crate::numbers::all_bits;
use crate::software_gpu::run;
use half::f16;
use octopus_array::{Array, ArrayElement, ArrayFileError, ArrayShape};
use octopus_device::{Device, with_device};
use std::path::{Path, PathBuf};
use std::process::Command;

fn shapes() -> [ArrayShape; 7] {
    [0.into(), 7.into(), (3, 4).into(), (1, 5).into(), (5, 1).into(), (0, 3).into(), (300, 401).into()]
}

/// Runs NumPy's side; `None` where there is no Python, which is said.
fn numpy(verb: &str, folder: &Path) -> Option<()> {
    let Some(python) = std::env::var_os("OCTOPUS_PYTHON").filter(|python| !python.is_empty()) else {
        eprintln!("SKIPPED: no Python with NumPy: set OCTOPUS_PYTHON (see crates/array/tests/arrays/npy.py)");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/arrays/npy.py");
    let output = Command::new(python).arg("-B").arg(script).arg(verb).arg(folder).output();
    let output = output.expect("OCTOPUS_PYTHON cannot be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

/// The name that `npy.py` gives an array.
fn path_of<T: ArrayElement>(folder: &Path, shape: ArrayShape) -> PathBuf {
    let lengths = match shape {
        ArrayShape::Vector(length) => length.to_string(),
        ArrayShape::Matrix(rows, columns) => format!("{rows}x{columns}"),
    };
    folder.join(format!("{}-{lengths}.npy", T::SUFFIX))
}

fn roots<T: ArrayElement>(shape: ArrayShape) -> Array<T> {
    let (rows, columns) = shape.sides();
    let roots: Vec<T> = (0..rows * columns).map(|i| T::nearest((i as f64).sqrt())).collect();
    Array::from(roots).reshape(shape).unwrap()
}

fn for_each_shape<T: ArrayElement>(check: impl Fn(ArrayShape, &Array<T>)) {
    shapes().into_iter().for_each(|shape| check(shape, &roots(shape)));
}

fn save_all<T: ArrayElement>(folder: &Path, device: Device) {
    for_each_shape::<T>(|shape, array| {
        array.to_device(device).unwrap().save(path_of::<T>(folder, shape)).unwrap();
    });
}

fn load_all<T: ArrayElement>(folder: &Path, device: Device) {
    for_each_shape::<T>(|shape, array| {
        let loaded = with_device(device, || Array::<T>::load(path_of::<T>(folder, shape))).unwrap();
        assert_eq!((loaded.shape(), loaded.device()), (shape, device));
        assert_eq!(all_bits(&loaded.to_host().unwrap()), all_bits(&array.to_host().unwrap()), "{shape}");
    });
}

#[test]
fn numpy_loads_what_we_save() {
    let folder = tempfile::tempdir().unwrap();
    save_all::<f16>(folder.path(), Device::Cpu);
    save_all::<f32>(folder.path(), Device::Cpu);
    save_all::<f64>(folder.path(), Device::Cpu);
    if numpy("read", folder.path()).is_none() {
        load_all::<f32>(folder.path(), Device::Cpu);
    }
}

#[test]
fn we_load_what_numpy_saves() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let Some(()) = numpy("write", folder.path()) else { return };
    load_all::<f16>(folder.path(), Device::Cpu);
    load_all::<f32>(folder.path(), Device::Cpu);
    load_all::<f64>(folder.path(), Device::Cpu);
    let error = Array::<f64>::load(path("single.npy")).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "single.npy has an array of 0 dimensions, of shape []: one or two are expected; reshape it with NumPy"
        ),
        "{error}"
    );
    assert!(Array::<f64>::load(path("whole.npy")).unwrap_err().to_string().contains("whole.npy"));
    assert!(Array::<f64>::load(path("fortran.npy")).unwrap_err().to_string().contains("fortran.npy"));
}

#[test]
fn arrays_of_a_gpu_are_saved_and_loaded() {
    run("npy::arrays_of_a_gpu_are_saved_and_loaded", "devices=1", || {
        let (folder, gpu) = (tempfile::tempdir().unwrap(), Device::Cuda(0));
        save_all::<f16>(folder.path(), gpu);
        save_all::<f64>(folder.path(), gpu);
        load_all::<f16>(folder.path(), gpu);
        load_all::<f64>(folder.path(), Device::Cpu);
        load_all::<f64>(folder.path(), gpu);
    });
}

#[test]
fn a_file_of_another_array_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    Array::from(vec![1.0_f32, 2.0]).save(&path).unwrap();
    let error = Array::<f64>::load(&path).unwrap_err();
    assert!(matches!(error, ArrayFileError::File(octopus_files::NpyError::OtherType { .. })), "{error:?}");
    assert!(error.to_string().ends_with("a.npy is of <f4, and numbers of <f8 are asked for"), "{error}");
    // A second array takes the place of the first.
    Array::from(vec![3.0_f64]).save(&path).unwrap();
    assert_eq!(Array::<f64>::load(&path).unwrap().to_host().unwrap(), [3.0]);
    // The header that NumPy writes for zeros of this shape.
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3, 4), }";
    let cube = [b"\x93NUMPY\x01\x00\x76\x00".as_slice(), format!("{header:117}\n").as_bytes(), &[0; 8 * 24]].concat();
    std::fs::write(&path, cube).unwrap();
    let error = Array::<f64>::load(&path).unwrap_err();
    assert!(matches!(&error, ArrayFileError::Dimensions { shape, .. } if shape == &[2, 3, 4]), "{error:?}");
    let words =
        "a.npy has an array of 3 dimensions, of shape [2, 3, 4]: one or two are expected; reshape it with NumPy";
    assert!(error.to_string().ends_with(words), "{error}");
    assert!(Array::<f64>::load(folder.path().join("none.npy")).unwrap_err().to_string().contains("none.npy"));
}

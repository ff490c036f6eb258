//! Infinite numbers in JSON, which has none: they are the words `"Infinity"` and `"-Infinity"`, and NaN is `null`.
//!
//! So nothing is lost: `null` says that a number is not defined, and a reader that expects numbers can turn the words into
//! them (`Number("Infinity")` in JavaScript, `float("Infinity")` in Python).

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use std::fmt::Display;

/// A value that is written with its infinite numbers as words, wherever in it they are.
///
/// ```
/// use octopus_files::WithInfinities;
/// let json = serde_json::to_string(&WithInfinities([1.5, f64::NEG_INFINITY, f64::NAN]))?;
/// assert_eq!(json, r#"[1.5,"-Infinity",null]"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WithInfinities<T>(pub T);

/// Returns the word that stands for an infinite number.
fn word(value: f64) -> Option<&'static str> {
    value.is_infinite().then_some(if value > 0.0 { "Infinity" } else { "-Infinity" })
}

/// Returns the infinite number that a word in JSON stands for.
pub fn infinity_of(word: &str) -> Option<f64> {
    [f64::INFINITY, f64::NEG_INFINITY].into_iter().find(|&value| self::word(value) == Some(word))
}

impl<T: Serialize> Serialize for WithInfinities<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Words(serializer))
    }
}

/// A serializer, or the parts of a value that it is at, which is handed words for infinite numbers and all else as it is.
struct Words<S>(S);

/// Methods of a serializer that take a value which holds no other.
macro_rules! handed_on {
    ($($method:ident($type:ty)),*) => {$(
        fn $method(self, value: $type) -> Result<Self::Ok, Self::Error> {
            self.0.$method(value)
        }
    )*};
}

impl<S: Serializer> Serializer for Words<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Words<S::SerializeSeq>;
    type SerializeTuple = Words<S::SerializeTuple>;
    type SerializeTupleStruct = Words<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Words<S::SerializeTupleVariant>;
    type SerializeMap = Words<S::SerializeMap>;
    type SerializeStruct = Words<S::SerializeStruct>;
    type SerializeStructVariant = Words<S::SerializeStructVariant>;

    handed_on!(
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_i128(i128),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_u128(u128),
        serialize_char(char),
        serialize_str(&str),
        serialize_bytes(&[u8]),
        serialize_unit_struct(&'static str)
    );

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        match word(f64::from(value)) {
            Some(word) => self.0.serialize_str(word),
            None => self.0.serialize_f32(value),
        }
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        match word(value) {
            Some(word) => self.0.serialize_str(word),
            None => self.0.serialize_f64(value),
        }
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&WithInfinities(value))
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit()
    }

    fn serialize_unit_variant(self, name: &'static str, index: u32, variant: &'static str) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &WithInfinities(value))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_variant(name, index, variant, &WithInfinities(value))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.0.serialize_seq(len).map(Words)
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        self.0.serialize_tuple(len).map(Words)
    }

    fn serialize_tuple_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeTupleStruct, S::Error> {
        self.0.serialize_tuple_struct(name, len).map(Words)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        self.0.serialize_tuple_variant(name, index, variant, len).map(Words)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        self.0.serialize_map(len).map(Words)
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeStruct, S::Error> {
        self.0.serialize_struct(name, len).map(Words)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        self.0.serialize_struct_variant(name, index, variant, len).map(Words)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

/// Parts of a value that have no names.
macro_rules! parts {
    ($($of:ident::$method:ident),*) => {$(
        impl<S: $of> $of for Words<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
                self.0.$method(&WithInfinities(value))
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        }
    )*};
}

parts!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

/// Parts of a value that have names.
macro_rules! named_parts {
    ($($of:ident),*) => {$(
        impl<S: $of> $of for Words<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), S::Error> {
                self.0.serialize_field(name, &WithInfinities(value))
            }

            fn skip_field(&mut self, name: &'static str) -> Result<(), S::Error> {
                self.0.skip_field(name)
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        }
    )*};
}

named_parts!(SerializeStruct, SerializeStructVariant);

impl<S: SerializeMap> SerializeMap for Words<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        self.0.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        self.0.serialize_value(&WithInfinities(value))
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    const INF: f64 = f64::INFINITY;

    #[derive(serde::Serialize)]
    struct Pair(f64, f32);

    #[derive(serde::Serialize)]
    struct Unit(f64);

    #[derive(serde::Serialize)]
    enum Kind {
        None,
        One(f64),
        Two(f64, f64),
        Named { value: f64 },
    }

    #[derive(serde::Serialize)]
    struct All {
        number: f64,
        some: Option<f64>,
        none: Option<f64>,
        list: Vec<Option<f64>>,
        pair: Pair,
        unit: Unit,
        tuple: (f64, u8, &'static str),
        kinds: [Kind; 4],
        map: BTreeMap<&'static str, f64>,
    }

    /// Whatever holds a number, a word stands for it when it is infinite.
    #[test]
    fn infinite_numbers_are_words_everywhere() {
        let value = All {
            number: INF,
            some: Some(-INF),
            none: None,
            list: vec![Some(INF), Some(f64::NAN), None, Some(1.5)],
            pair: Pair(-INF, f32::INFINITY),
            unit: Unit(INF),
            tuple: (INF, 3, "a"),
            kinds: [Kind::None, Kind::One(INF), Kind::Two(1.0, -INF), Kind::Named { value: INF }],
            map: BTreeMap::from([("x", -INF), ("y", 2.0)]),
        };
        let expected = json!({
            "number": "Infinity",
            "some": "-Infinity",
            "none": null,
            "list": ["Infinity", null, null, 1.5],
            "pair": ["-Infinity", "Infinity"],
            "unit": "Infinity",
            "tuple": ["Infinity", 3, "a"],
            "kinds": ["None", {"One": "Infinity"}, {"Two": [1.0, "-Infinity"]}, {"Named": {"value": "Infinity"}}],
            "map": {"x": "-Infinity", "y": 2.0},
        });
        assert_eq!(serde_json::to_value(WithInfinities(&value)).unwrap(), expected);
        assert_eq!(json!({ "in a macro": WithInfinities(INF) }), json!({ "in a macro": "Infinity" }));
    }

    #[test]
    fn words_are_read_back() {
        assert_eq!(["Infinity", "-Infinity", "NaN", "inf"].map(infinity_of), [Some(INF), Some(-INF), None, None]);
    }
}

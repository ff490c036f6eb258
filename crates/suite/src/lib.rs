//! Benchmarks as suites: a file says what is measured, one runner measures Octopus and other frameworks side by side, and one
//! table holds it. A time counts only beside a posterior that passes.
//!
//! | you want | use |
//! |--|--|
//! | a suite that ships, or one of a file | [`Suite::find`], then [`Suite::cases`] |
//! | the frameworks that there are, and to set them up | [`Peers`], [`Peer`] |
//! | to run a suite | [`SuiteRun`] |
//! | results again, their summary, another form of them | [`SuiteResults`], [`SuiteSummary`], [`SuiteExport`] |
//! | their pictures, or a page of them | [`SuitePicture`], [`results_page`] |
//! | two runs side by side | [`compare()`] |
//! | to answer as a framework | [`answer()`] |
//!
//! A framework is a process that reads requests and writes answers, a line of JSON each (docs/benchmarks.md). Octopus is such
//! a process, too: none is timed in a way that another is not.
#![forbid(unsafe_code)]

mod answer;
mod compare;
mod error;
mod export;
mod judge;
mod known;
mod message;
mod page;
mod peer;
mod plots;
mod results;
mod row;
mod runner;
mod suite;
mod summary;
mod work;
mod workload;

pub use answer::answer;
pub use compare::{ComparedCase, compare};
pub use error::SuiteError;
pub use export::{SuiteExport, summary_text};
pub use judge::{PosteriorCheck, SuiteVerdict};
pub use page::results_page;
pub use peer::{Peer, Peers};
pub use plots::SuitePicture;
pub use results::{SuiteMetadata, SuiteResults};
pub use row::SuiteRow;
pub use runner::{SuiteObserver, SuiteRun};
pub use suite::{Suite, SuiteCase, SuiteChoice};
pub use summary::{MedianInterval, SuiteSummary, summarise};

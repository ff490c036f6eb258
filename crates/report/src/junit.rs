//! `junit.xml`, as CI servers read it: one test case for each criterion.

use crate::verdict::{Status, StatusCounts, Verdict};

/// Returns the verdict as a JUnit document; `suite` names it, `created` is RFC 3339.
pub(crate) fn junit(verdict: &Verdict, suite: &str, created: &str) -> String {
    let StatusCounts { failed: failures, skipped, .. } = verdict.counts();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"", verdict.rows.len());
    xml += &format!("<testsuites name=\"{}\" {counts}>\n", escaped(suite));
    // JUnit's time stamps have no zone.
    let stamp = created.get(..19).unwrap_or(created);
    xml += &format!("  <testsuite name=\"{}\" {counts} time=\"0\" timestamp=\"{}\">\n", escaped(suite), escaped(stamp));
    for row in &verdict.rows {
        let name = escaped(&format!("{} {} ({})", row.id, row.criterion, row.threshold));
        let class = escaped(&format!("{suite}.{}", row.priority));
        xml += &format!("    <testcase classname=\"{class}\" name=\"{name}\" time=\"0\"");
        let value = escaped(&row.value);
        match &row.status {
            Status::Pass => xml += &format!("><system-out>{value}</system-out></testcase>\n"),
            // JUnit knows no warning.
            Status::Warn => {
                let advice = escaped(row.advice.as_deref().unwrap_or(""));
                xml += &format!("><system-out>WARN: {value}. {advice}</system-out></testcase>\n");
            }
            Status::Skipped { reason } => {
                xml += &format!("><skipped message=\"{}\"/></testcase>\n", escaped(reason));
            }
            Status::Fail => {
                let advice = escaped(row.advice.as_deref().unwrap_or(""));
                let message = format!("{value}, wanted: {}", escaped(&row.threshold));
                xml += &format!("><failure message=\"{message}\" type=\"criterion\">{advice}</failure></testcase>\n");
            }
        }
    }
    xml + "  </testsuite>\n</testsuites>\n"
}

/// `text` for an attribute or for text: the five special characters, and nothing that XML 1.0 forbids.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&apos;",
            '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                out.push('\u{fffd}')
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::VerdictRow;

    #[test]
    fn is_well_formed_and_counts() {
        let row = |id: &str, status| VerdictRow {
            id: id.to_owned(),
            priority: "P0".to_owned(),
            criterion: "R-hat < 1.01 & \"ESS\" > 400".to_owned(),
            threshold: "< 1.01".to_owned(),
            value: "1.2 \u{1b}[31m <z['a & b']>".to_owned(),
            status,
            advice: Some("do <that>".to_owned()),
            wants_gpu: false,
        };
        let rows = vec![
            row("P0.1", Status::Pass),
            row("P0.2", Status::Fail),
            row("P0.3", Status::Skipped { reason: "no <GPU>".to_owned() }),
        ];
        let xml = junit(&Verdict::new(rows, false), "phase0", "2026-11-21T08:00:00Z");
        let document = roxmltree::Document::parse(&xml).unwrap();
        let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).unwrap();
        for (name, value) in [("tests", "3"), ("failures", "1"), ("skipped", "1"), ("errors", "0")] {
            assert_eq!(suite.attribute(name), Some(value));
        }
        assert_eq!(suite.attribute("timestamp"), Some("2026-11-21T08:00:00"));
        let cases: Vec<_> = suite.children().filter(|node| node.has_tag_name("testcase")).collect();
        assert_eq!(cases.len(), 3);
        assert_eq!(cases[0].attribute("name"), Some("P0.1 R-hat < 1.01 & \"ESS\" > 400 (< 1.01)"));
        assert_eq!(cases[0].attribute("classname"), Some("phase0.P0"));
        assert_eq!(cases[1].first_element_child().unwrap().text(), Some("do <that>"));
        assert_eq!(cases[2].first_element_child().unwrap().attribute("message"), Some("no <GPU>"));
    }
}

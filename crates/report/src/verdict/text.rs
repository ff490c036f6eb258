//! The verdict as a table for terminals and logs.

use super::{Status, Verdict};
use crate::text::{Charset, ROWS};
use octopus_diag::{TextColumn, text_table};

impl Verdict {
    /// Returns an aligned table, then the reasons and the advice, then the outcome in one line.
    pub fn text(&self, charset: Charset) -> String {
        let columns = [
            TextColumn::left("id"),
            TextColumn::left("status"),
            TextColumn::wrapped("criterion", 32),
            TextColumn::wrapped("threshold", 28),
            TextColumn::wrapped("value", 44),
        ];
        let rows: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| {
                let mark = match (charset, &row.status) {
                    (Charset::Ascii, _) => "",
                    (_, Status::Pass) => "✓ ",
                    (_, Status::Warn) => "! ",
                    (_, Status::Fail) => "✗ ",
                    (_, Status::Skipped { .. }) => "– ",
                };
                vec![
                    row.id.clone(),
                    format!("{mark}{}", row.status.word()),
                    row.criterion.clone(),
                    row.threshold.clone(),
                    row.value.clone(),
                ]
            })
            .collect();
        let mut text = text_table(&columns, &rows, charset.table());
        let mut notes = Vec::new();
        for row in &self.rows {
            let note = match &row.status {
                Status::Skipped { reason } => format!("skipped: {reason}"),
                _ => match &row.advice {
                    Some(advice) if row.status == Status::Warn => format!("note: {advice}"),
                    Some(advice) => format!("to do: {advice}"),
                    None => continue,
                },
            };
            notes.push([row.id.clone(), note]);
        }
        if !notes.is_empty() {
            let columns = [TextColumn::left(""), TextColumn::wrapped("", 100)];
            text += &format!("\n{}", text_table(&columns, &notes, ROWS));
        }
        text + "\n" + &self.sentence() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::super::VerdictRow;
    use super::*;

    #[test]
    fn table_notes_and_outcome() {
        let row = |id: &str, status, advice: Option<&str>| VerdictRow {
            id: id.to_owned(),
            priority: "P0".to_owned(),
            criterion: "All parameters converged".to_owned(),
            threshold: "R-hat < 1.01".to_owned(),
            value: "max R-hat 1.1 (mu_pop)".to_owned(),
            status,
            advice: advice.map(str::to_owned),
            wants_gpu: false,
        };
        let verdict = Verdict::new(
            vec![
                row("P0.1", Status::Skipped { reason: "no GPU here".to_owned() }, None),
                row("P0.3", Status::Fail, Some("sample longer")),
                row("P0.4", Status::Warn, Some("a GPU pays with many chains")),
                row("P0.5", Status::Pass, None),
            ],
            false,
        );
        let text = verdict.text(Charset::Ascii);
        insta::assert_snapshot!(text);
        assert!(text.is_ascii());
        let unicode = verdict.text(Charset::Unicode);
        assert!(unicode.contains("✗ FAIL") && unicode.contains("! WARN"), "{unicode}");
    }
}

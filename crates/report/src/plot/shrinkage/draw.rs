//! Drawing of posterior means against raw means, and of how far each was pulled.
//!
//! From how many groups on intervals, names and points are left out stands here, with title and caption.

use super::super::axis::{Axis, extent, widened};
use super::super::label::Labels;
use super::super::palette::{BLUE, Colour, GREEN, INK, MUTED, ORANGE, SHADE, VERMILLION};
use super::super::panel::{HEADING, Keys, MARGIN, Panel, SMALL, head};
use super::super::scene::{Point, Scene, Text};
use super::super::{About, PictureWidth, Plot, Subject, font, font::Weight};
use super::{ShrinkagePlot, ShrunkGroup, shade};
use crate::error::ReportError;
use crate::format::{count, significant};

const HEIGHT: f64 = 690.0;
const NARROW_HEIGHT: f64 = 560.0;
const NUMBERS: f64 = 90.0;
const GAP: f64 = 50.0;
/// More groups have no interval each, more no name, and more no point.
const MOST_INTERVALS: usize = 150;
const MOST_NAMES: usize = 12;
const MOST_POINTS: usize = 1500;
const MOST_TIPS: usize = 300;
/// Classes of sizes from the smallest groups, which are pulled most, to the largest.
const SIZES: [Colour; 3] = [ORANGE, GREEN, BLUE];

const CAPTION: &str =
    "The posterior mean of each group against the mean of its own observations, and by how much it was pulled.";

impl Plot for ShrinkagePlot {
    fn about(&self) -> About {
        About::new(Subject::Posterior, "shrinkage_plot", "Shrinkage", CAPTION)
    }

    fn layout(&self, width: PictureWidth) -> Result<Scene, ReportError> {
        let shown = self.shown();
        if shown.is_empty() {
            return Err(ReportError::Empty {
                plot: "the plot of shrinkage",
                missing: "a group with observations and a posterior mean",
            });
        }
        let mut scene =
            Scene::new(width.pixels(), 0.0, "Shrinkage: raw means of the groups against their posterior means");
        let [first, second] = if scene.is_narrow() { ["above", "below"] } else { ["left", "right"] };
        let note = format!(
            "{first}: the posterior mean of each group against the mean of its observations; {second}: by how much it was pulled"
        );
        let top = head(&mut scene, "Shrinkage", &note);
        let top = top + self.draw_key(&mut scene, top + 8.0, shown.len());
        let end = scene.width - MARGIN;
        let room = 0.5 * (scene.width - 2.0 * MARGIN - 2.0 * NUMBERS - GAP);
        let mut left = Panel {
            left: MARGIN + NUMBERS,
            top: top + 96.0,
            right: MARGIN + NUMBERS + room,
            bottom: top + 96.0 + HEIGHT,
        };
        let mut right = Panel { left: left.right + GAP + NUMBERS, right: end, ..left };
        if scene.is_narrow() {
            left = Panel { right: end, bottom: left.top + NARROW_HEIGHT, ..left };
            right = left.lower(NARROW_HEIGHT + 170.0);
        }
        self.draw_means(&mut scene, &left, &shown);
        self.draw_pulls(&mut scene, &right, &shown);
        scene.height = right.bottom + 90.0;
        Ok(scene)
    }
}

impl ShrinkagePlot {
    /// Returns the height of the key's lines below the first.
    fn draw_key(&self, scene: &mut Scene, y: f64, shown: usize) -> f64 {
        let mut keys = Keys::new(y);
        keys.stroke(scene, MUTED, true, "no pull");
        if let Some(mean) = self.grand_mean {
            let words = format!("pulled towards {}", significant(mean, 4));
            keys.stroke(scene, VERMILLION, true, &words);
        }
        let classes = self.classes();
        if shown > MOST_POINTS {
            let words = format!("{} groups: the darker a square, the more of them", count(shown as u64));
            keys.sign(scene, 10.0, &words, |_, _| {});
        } else if classes.len() > 1 {
            let mut from = 1;
            for (i, &to) in classes.iter().enumerate() {
                let words = match i {
                    0 => format!("up to {to}"),
                    _ if from == to => format!("{to}"),
                    _ => format!("{from} to {to}"),
                };
                let words = if i + 1 == classes.len() { words + " observations" } else { words };
                keys.sign(scene, 34.0, &words, |scene, (x, y)| {
                    scene.disc((x + 18.0, y), 8.0, size_colour(&classes, to));
                });
                keys.closer(18.0);
                from = to + 1;
            }
        } else if let Some(size) = classes.first() {
            let words = format!("a group of {size} observation{}", if *size == 1 { "" } else { "s" });
            keys.sign(scene, 34.0, &words, |scene, (x, y)| scene.disc((x + 18.0, y), 8.0, BLUE));
        }
        keys.below(y)
    }

    fn draw_means(&self, scene: &mut Scene, panel: &Panel, shown: &[&ShrunkGroup]) {
        let intervals = shown.len() <= MOST_INTERVALS;
        let words = if intervals { "posterior mean and 89% HDI" } else { "posterior mean" };
        let name = font::fit(&self.name, HEADING, Weight::Bold, 0.5 * (panel.right - panel.left));
        let parts = [Text::new((0.0, 0.0), name, HEADING, INK).bold(), Text::new((0.0, 0.0), words, SMALL, MUTED)];
        let left = if scene.is_narrow() { MARGIN } else { panel.left };
        scene.texts((left, panel.top - 30.0), 16.0, parts);
        let range = self.range(intervals);
        let (x, y) = (panel.x(range), panel.y(range));
        panel.draw_x(scene, &x);
        panel.draw_y(scene, &y);
        panel.name_x(scene, "mean of the group's observations");
        scene.dashed((panel.left, panel.bottom), (panel.right, panel.top), MUTED, 2.0);
        self.draw_grand_mean(scene, panel, &x, Some(&y));
        if intervals {
            for group in shown {
                let (low, high) = group.hdi89;
                if low.is_finite() && high.is_finite() {
                    let at = x.px(group.raw);
                    scene.line(vec![(at, y.px(low)), (at, y.px(high))], SHADE, 3.0);
                }
            }
        }
        let place = |group: &ShrunkGroup| (x.px(group.raw), y.px(group.mean));
        self.draw_groups(scene, shown, place);
        let mut labels = Labels::new(*panel);
        labels.keep_line((panel.left, panel.bottom), (panel.right, panel.top));
        for group in shown {
            labels.keep_line((x.px(group.raw), y.px(group.hdi89.0)), (x.px(group.raw), y.px(group.hdi89.1)));
        }
        if let Some(mean) = self.grand_mean {
            labels.keep_line((panel.left, y.px(mean)), (panel.right, y.px(mean)));
        }
        draw_names(scene, labels, shown, place);
    }

    fn draw_pulls(&self, scene: &mut Scene, panel: &Panel, shown: &[&ShrunkGroup]) {
        let parts = [
            Text::new((0.0, 0.0), "pull", HEADING, INK).bold(),
            Text::new((0.0, 0.0), "posterior mean less raw mean", SMALL, MUTED),
        ];
        let left = if scene.is_narrow() { MARGIN } else { panel.left };
        scene.texts((left, panel.top - 30.0), 16.0, parts);
        let pulls = extent(shown.iter().map(|group| group.mean - group.raw).chain([0.0])).unwrap_or((-1.0, 1.0));
        let reach = pulls.1.max(-pulls.0);
        let reach = if reach > 0.0 { reach } else { 1.0 };
        let (x, y) = (panel.x(self.range(false)), panel.y(widened((-reach, reach), 0.06)));
        panel.draw_x(scene, &x);
        panel.draw_y(scene, &y);
        panel.name_x(scene, "mean of the group's observations");
        scene.dashed((panel.left, y.px(0.0)), (panel.right, y.px(0.0)), MUTED, 2.0);
        self.draw_grand_mean(scene, panel, &x, None);
        let place = |group: &ShrunkGroup| (x.px(group.raw), y.px(group.mean - group.raw));
        self.draw_groups(scene, shown, place);
        let mut labels = Labels::new(*panel);
        labels.keep_line((panel.left, y.px(0.0)), (panel.right, y.px(0.0)));
        if let Some(mean) = self.grand_mean {
            labels.keep_line((x.px(mean), panel.top), (x.px(mean), panel.bottom));
        }
        draw_names(scene, labels, shown, place);
    }

    /// Draws the line that groups are pulled to: across on the axis of posterior means, upright where there is none.
    fn draw_grand_mean(&self, scene: &mut Scene, panel: &Panel, x: &Axis, y: Option<&Axis>) {
        let Some(mean) = self.grand_mean.filter(|mean| mean.is_finite()) else { return };
        match y {
            Some(y) => scene.dashed((panel.left, y.px(mean)), (panel.right, y.px(mean)), VERMILLION, 2.5),
            None => scene.dashed((x.px(mean), panel.top), (x.px(mean), panel.bottom), VERMILLION, 2.5),
        }
    }

    fn draw_groups(&self, scene: &mut Scene, shown: &[&ShrunkGroup], place: impl Fn(&ShrunkGroup) -> Point) {
        if shown.len() > MOST_POINTS {
            shade::draw(scene, shown.iter().map(|group| place(group)));
        } else {
            let classes = self.classes();
            let radius = (90.0 / (shown.len() as f64).sqrt()).clamp(3.5, 9.0);
            // The smallest groups last: they are pulled most, and are what the picture is about.
            let mut order: Vec<&&ShrunkGroup> = shown.iter().collect();
            order.sort_by_key(|group| std::cmp::Reverse(group.size));
            for group in order {
                scene.disc(place(group), radius, size_colour(&classes, group.size));
            }
        }
        for group in furthest(shown).into_iter().take(MOST_TIPS).rev() {
            let (x, y) = place(group);
            scene.tip((x - 8.0, y - 8.0), (x + 8.0, y + 8.0), group.tip());
        }
    }
}

/// Names beside the points of few groups.
fn draw_names(scene: &mut Scene, mut labels: Labels, shown: &[&ShrunkGroup], place: impl Fn(&ShrunkGroup) -> Point) {
    if shown.len() > MOST_NAMES {
        return;
    }
    shown.iter().for_each(|group| labels.keep_point(place(group), 9.0));
    for group in shown {
        let name = font::fit(&group.label, SMALL, Weight::Regular, 240.0);
        labels.place(scene, place(group), Text::new((0.0, 0.0), name, SMALL, INK));
    }
}

impl ShrunkGroup {
    fn tip(&self) -> String {
        let number = |value| significant(value, 4);
        format!(
            "{}, {} observations\nraw mean {}\nposterior mean {}, 89% HDI {} to {}\npull {}",
            self.label,
            count(self.size as u64),
            number(self.raw),
            number(self.mean),
            number(self.hdi89.0),
            number(self.hdi89.1),
            number(self.mean - self.raw)
        )
    }
}

/// Groups from the one that was pulled furthest.
fn furthest<'a>(shown: &[&'a ShrunkGroup]) -> Vec<&'a ShrunkGroup> {
    let mut order = shown.to_vec();
    order.sort_by(|a, b| (b.mean - b.raw).abs().total_cmp(&(a.mean - a.raw).abs()));
    order
}

fn size_colour(classes: &[usize], size: usize) -> Colour {
    match classes.iter().position(|&end| size <= end) {
        Some(class) if class + 1 < classes.len() => SIZES[class],
        _ => SIZES[2],
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::panel::WIDTH;
    use super::super::super::scene::Shape;
    use super::*;

    #[test]
    fn classes_of_sizes_have_colours_from_the_smallest_to_the_largest() {
        assert_eq!([1, 2, 9].map(|size| size_colour(&[9], size)), [BLUE; 3]);
        assert_eq!([1, 2, 3, 9].map(|size| size_colour(&[2, 9], size)), [ORANGE, ORANGE, BLUE, BLUE]);
        assert_eq!([2, 4, 5, 9].map(|size| size_colour(&[2, 4, 9], size)), [ORANGE, GREEN, BLUE, BLUE]);
    }

    #[test]
    fn the_key_tells_the_sizes_of_groups_or_of_too_many_their_number() {
        let group = |size| ShrunkGroup { label: String::new(), raw: 1.0, mean: 1.0, hdi89: (0.0, 2.0), size };
        for (sizes, shown, words) in [
            (&[1][..], 1, "a group of 1 observation"),
            (&[7, 7][..], 2, "a group of 7 observations"),
            (&[2, 3][..], 2, "3 observations"),
            (&[2, 9][..], 1500, "3 to 9 observations"),
            (&[2, 9][..], 1501, "1,501 groups: the darker a square, the more of them"),
        ] {
            let groups = sizes.iter().map(|&size| group(size)).collect();
            let plot = ShrinkagePlot { name: "mu".to_owned(), groups, grand_mean: None };
            let mut scene = Scene::new(WIDTH, 100.0, "");
            plot.draw_key(&mut scene, 50.0, shown);
            let Some(Shape::Text(text)) = scene.shapes.last() else { panic!("{:?}", scene.shapes) };
            assert_eq!(text.text, words);
        }
    }
}

//! Gathers that only change the order, as of a matrix that is read column by column: two of them are one, and the sums by
//! segment that their slopes are have one row each.

use crate::graph::{Graph, Node, NodeId};
use std::sync::Arc;

impl Graph {
    /// Returns the index that undoes this one, if it has each element once.
    pub(crate) fn inverse(&mut self, index: u32) -> Option<u32> {
        if let Some(&known) = self.inverses.get(&index) {
            return known;
        }
        let table = &self.indexes[index as usize];
        let bound = table.bound;
        let inverse = if table.rows.len() == bound { places(&table.rows) } else { None };
        let inverse = inverse.and_then(|places| self.index("gather", places, bound).ok());
        self.inverses.insert(index, inverse);
        inverse
    }

    /// Returns what a gather of `source` is where that is a gather that only changes the order: a gather of its source.
    pub(crate) fn gather_of_reordered(&mut self, source: NodeId, index: u32) -> Option<NodeId> {
        let Node::Gather(before, first) = self.nodes[source.at()] else { return None };
        self.inverse(first)?;
        let both = match self.gathers_of_gathers.get(&(first, index)) {
            Some(&both) => both,
            None => {
                let [inner, outer] = [first, index].map(|index| self.indexes[index as usize].rows.clone());
                let rows: Arc<[u32]> = outer.iter().map(|&row| inner[row as usize]).collect();
                let both = self.index("gather", rows, inner.len()).ok()?;
                self.gathers_of_gathers.insert((first, index), both);
                both
            }
        };
        Some(self.gather_by(before, both))
    }
}

/// The place of each row, if no row is there twice.
fn places(rows: &[u32]) -> Option<Arc<[u32]>> {
    let mut places = vec![u32::MAX; rows.len()];
    for (place, &row) in rows.iter().enumerate() {
        places[row as usize] = place as u32;
    }
    (!places.contains(&u32::MAX)).then(|| places.into())
}

#[cfg(test)]
mod tests {
    use crate::Graph;
    use crate::plain::evaluate;

    /// A matrix of 2 x 3 column by column, and back; its slopes; and indices with a row twice, which have no inverse.
    #[test]
    fn orders_there_and_back_are_none() {
        let mut graph = Graph::new();
        let x = graph.parameter(6);
        let turned = graph.gather(x, vec![0, 3, 1, 4, 2, 5]);
        assert_eq!(graph.gather(turned, vec![0, 2, 4, 1, 3, 5]), x);
        let some = graph.gather(turned, vec![3, 3, 1]);
        let weights = graph.column(vec![1.0, 10.0, 100.0]);
        let all = graph.column((0..6).map(|k| 1000.0 * f64::from(k)).collect::<Vec<_>>());
        let terms = [graph.dot(weights, some), graph.dot(all, turned)];
        let target = graph.add(terms[0], terms[1]);
        let gradient = graph.gradient(target, &[x])[0].expect("it depends on x");
        let position = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let [found, slopes] = &evaluate(&graph, &[some, gradient], &position)[..] else { panic!("two results") };
        assert_eq!(found[..], [5.0, 5.0, 4.0]);
        assert_eq!(slopes[..], [0.0, 2000.0, 4000.0, 1100.0, 3011.0, 5000.0]);
    }
}

// The contents bar shows where the reader is; paper shows what is folded.
{
  const links = new Map(Array.from(document.querySelectorAll("nav a"), (link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) seen.add(entry.target.id); else seen.delete(entry.target.id);
    }
    let current = null;
    for (const [id, link] of links) {
      link.removeAttribute("aria-current");
      if (!current && seen.has(id)) current = link;
    }
    if (current) current.setAttribute("aria-current", "true");
  }, { rootMargin: "-20% 0px -60% 0px" });
  for (const id of links.keys()) watch.observe(document.getElementById(id));

  let folded = [];
  addEventListener("beforeprint", () => {
    folded = Array.from(document.querySelectorAll("details:not([open])"));
    for (const group of folded) group.open = true;
  });
  addEventListener("afterprint", () => { for (const group of folded) group.open = false; });
}

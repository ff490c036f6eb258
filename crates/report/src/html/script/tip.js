// What a picture says about the place pointed at: its titles, in a box that follows the pointer, finger or keys.
{
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.setAttribute("role", "status");
  tip.hidden = true;
  document.body.append(tip);
  let on = null;

  // The browser would show a title, too: it moves to where the browser does not.
  const words = (rect) => {
    const title = rect.querySelector("title");
    if (title) { rect.dataset.tip = title.textContent; title.remove(); }
    return rect.dataset.tip || "";
  };
  for (const title of document.querySelectorAll("figure svg > title")) {
    title.parentNode.setAttribute("aria-label", title.textContent);
    title.remove();
  }

  const hide = () => {
    if (on) on.classList.remove("on");
    on = null;
    tip.hidden = true;
  };
  const show = (rect, x, y) => {
    if (rect !== on) {
      hide();
      on = rect;
      rect.classList.add("on");
      const [first, ...rest] = words(rect).split("\n");
      tip.textContent = "";
      tip.append(Object.assign(document.createElement("b"), { textContent: first }), ...rest.flatMap((line) => [document.createElement("br"), line]));
      tip.hidden = false;
    }
    const { width, height } = tip.getBoundingClientRect();
    const gap = 14;
    tip.style.left = Math.max(4, Math.min(x + gap, innerWidth - width - 4)) + "px";
    tip.style.top = (y + gap + height > innerHeight ? Math.max(4, y - gap - height) : y + gap) + "px";
  };

  const at = (event) => {
    const rect = event.target.closest ? event.target.closest(".tips > rect") : null;
    if (rect) show(rect, event.clientX, event.clientY); else if (on) hide();
  };
  document.addEventListener("pointermove", at);
  document.addEventListener("pointerdown", at);
  document.addEventListener("scroll", hide, true);
  document.addEventListener("pointerleave", hide);

  // One stop of the tab key for each picture; arrows go from place to place.
  for (const group of document.querySelectorAll(".tips")) {
    group.setAttribute("tabindex", "0");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "values: arrow keys go from one to the next");
  }
  const place = (rect) => {
    const { left, top, width, height } = rect.getBoundingClientRect();
    show(rect, left + width / 2, top + height / 2);
  };
  document.addEventListener("focusin", (event) => {
    if (event.target.matches(".tips:focus-visible")) place(event.target.firstElementChild);
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return hide();
    const group = document.activeElement && document.activeElement.matches(".tips") ? document.activeElement : null;
    if (!group) return;
    const rects = Array.from(group.children);
    const here = rects.indexOf(on);
    const next = { ArrowRight: here + 1, ArrowDown: here + 1, ArrowLeft: here - 1, ArrowUp: here - 1, Home: 0, End: rects.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    place(rects[Math.max(0, Math.min(next, rects.length - 1))]);
  });
}

// Light or dark: as the system has it until the reader chooses, and remembered where the browser allows it.
{
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const label = () => { button.textContent = dark() ? "☀ light" : "☾ dark"; };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("octopus-theme", root.dataset.theme); } catch { /* a private window */ }
    label();
  });
  system.addEventListener("change", label);
  label();
}

/* A moderator's form shows what fits the chosen act: its reasons, and who is meant or for how long only where the act asks
 * for it. The server holds the same table (data-fitting) and refuses the rest. */

const field = (form, name) => form.elements.namedItem(name);

/** Leave only these options, and forget a choice that is none of them. */
const offer = (select, all, fits) => {
  const chosen = select.value;
  select.replaceChildren(...all.filter((option) => !option.value || fits(option.value)));
  select.value = fits(chosen) ? chosen : "";
};

const watch = (form) => {
  const fitting = JSON.parse(form.dataset.fitting);
  const reason = field(form, "reason");
  const all = [...reason.options];
  const show = () => {
    const fits = fitting[field(form, "what").value];
    offer(reason, all, (value) => Boolean(fits?.reasons.includes(value)));
    for (const name of ["hours", "person"]) {
      const select = field(form, name);
      if (!select) continue;
      const asked = Boolean(fits?.[name]);
      select.closest(".field").hidden = !asked;
      select.required = asked;
      if (!asked) select.value = "";
    }
  };
  form.addEventListener("change", ({ target }) => {
    if (target === field(form, "what")) show();
  });
  show();
};

for (const form of document.querySelectorAll("form[data-fitting]")) watch(form);

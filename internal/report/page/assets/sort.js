'use strict';
// Tables can be sorted by their columns: once up, once down, then as they were.
for (const table of document.querySelectorAll('table.sorted')) {
  const body = table.tBodies[0], original = [...body.rows], heads = [...table.tHead.rows[0].cells];
  const by = column => (a, b) => {
    const x = a.cells[column], y = b.cells[column];
    if (heads[column].classList.contains('n')) {
      const p = parseFloat(x.dataset.v), q = parseFloat(y.dataset.v);
      return (isNaN(p) - isNaN(q)) || p - q || 0;
    }
    return x.textContent.localeCompare(y.textContent);
  };
  heads.forEach((head, column) => {
    const name = head.querySelector('span'), button = document.createElement('button');
    button.type = 'button';
    button.append(...name.childNodes);
    name.append(button);
    button.addEventListener('click', () => {
      const order = {ascending: 'descending', descending: ''}[head.getAttribute('aria-sort')] ?? 'ascending';
      heads.forEach(h => h.removeAttribute('aria-sort'));
      const rows = [...original];
      if (order) {
        head.setAttribute('aria-sort', order);
        rows.sort(by(column));
        if (order === 'descending') rows.reverse();
      }
      body.append(...rows);
    });
  });
}
// Paper cannot be clicked.
addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(d => { d.open = true; }));

// ---- The beginning ----

function begin() {
  const page = new Page();
  const data = JSON.parse($("data").textContent);
  page.build();
  if (data && data.reports) {
    page.compare(data);
    page.recall();
  } else if (data) {
    page.show(data);
    page.recall();
  } else {
    page.live = new Live(page);
    page.live.start();
  }
}

begin();

package io.rdmacomm.cli.report;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/// A page with tables, charts and the facts that they depend on. One file contains everything, including the chart
/// library, so the page needs no network. The tables are readable without JavaScript.
public final class HtmlReport {
    private static final String TEMPLATE = "page.html";
    private static final String LIBRARY = "chart.umd.min.js";

    private final String title;
    private final StringBuilder body = new StringBuilder();
    private final List<Map<String, Object>> charts = new ArrayList<>();
    private final Set<String> anchors = new HashSet<>();
    private String json = "null";
    private String fileName = "";

    /// An empty page.
    public HtmlReport(String title) {
        this.title = title;
    }

    /// Adds a heading.
    public HtmlReport heading(String text) {
        body.append("<h2").append(anchor(text)).append("</h2>\n");
        return this;
    }

    /// Adds a button that saves the data of the page.
    ///
    /// @param name the name of the file
    /// @param data the JSON document
    public HtmlReport data(String name, Map<String, ?> data) throws IOException {
        fileName = name;
        json = JSON.std.asString(data);
        body.append("<p><button id=\"save\" type=\"button\" hidden>Save the data (JSON)</button></p>\n");
        return this;
    }

    /// The rest of the start tag of a heading, and its text as a link to the heading.
    private String anchor(String text) {
        String plain =
                text.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
        String name = plain;
        for (int i = 2; !anchors.add(name); i++) {
            name = plain + "-" + i;
        }
        return " id=\"%s\"><a href=\"#%s\">%s</a>".formatted(name, name, escape(text));
    }

    /// Adds a paragraph.
    public HtmlReport paragraph(String text) {
        body.append("<p>").append(escape(text)).append("</p>\n");
        return this;
    }

    /// Adds named values, such as the environment of a measurement.
    public HtmlReport facts(Map<String, ?> facts) {
        body.append("<dl>\n");
        facts.forEach((name, value) -> body.append("<dt>")
                .append(escape(name))
                .append("</dt><dd>")
                .append(escape(String.valueOf(value)))
                .append("</dd>\n"));
        body.append("</dl>\n");
        return this;
    }

    /// Adds a chart. Charts that follow each other stand side by side where there is room.
    public HtmlReport chart(Chart chart) {
        body.append("<figure data-chart=\"")
                .append(charts.size())
                .append("\"><figcaption><h3")
                .append(anchor(chart.title()))
                .append("</h3> ")
                .append(escape(chart.note()))
                .append("</figcaption><div class=\"plot\"><canvas role=\"img\" aria-label=\"")
                .append(escape(chart.description()))
                .append("\"></canvas></div></figure>\n");
        charts.add(chart.toMap());
        return this;
    }

    /// Adds a table.
    public HtmlReport grid(Grid grid) {
        body.append("<div class=\"scroll\"><table>\n<caption>")
                .append(escape(grid.title()))
                .append("</caption>\n<thead>");
        row("th", grid.header());
        body.append("</thead>\n<tbody>\n");
        grid.rows().forEach(cells -> row("td", cells));
        body.append("</tbody>\n</table></div>\n");
        return this;
    }

    private void row(String element, List<String> cells) {
        body.append("<tr>");
        for (String cell : cells) {
            body.append('<')
                    .append(element)
                    .append('>')
                    .append(escape(cell))
                    .append("</")
                    .append(element)
                    .append('>');
        }
        body.append("</tr>\n");
    }

    /// The page.
    public String text() throws IOException {
        return resource(TEMPLATE)
                .replace("{{title}}", escape(title))
                .replace("{{body}}", body)
                .replace("{{charts}}", inScript(JSON.std.asString(charts)))
                .replace("{{data}}", inScript(json))
                .replace("{{file}}", escape(fileName))
                .replace("{{library}}", resource(LIBRARY).replace("</script", "<\\/script"));
    }

    /// In a script element, only the characters of an end tag are special.
    private static String inScript(String text) {
        return text.replace("<", "\\u003c");
    }

    /// Writes the page to `file`.
    public void write(Path file) throws IOException {
        Files.writeString(file, text(), StandardCharsets.UTF_8);
    }

    private static String resource(String name) throws IOException {
        try (InputStream stream = HtmlReport.class.getResourceAsStream(name)) {
            if (stream == null) {
                throw new FileNotFoundException(name + " is missing in this build of rdmacomm");
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}

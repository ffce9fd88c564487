import com.google.code.hs4j.FindOperator;
import com.google.code.hs4j.HSClient;
import com.google.code.hs4j.IndexSession;
import com.google.code.hs4j.ModifyStatement;
import com.google.code.hs4j.impl.HSClientImpl;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * Uses hs4j as an application would and prints what it got: a step a line, the step's name, then
 * its values in Base64, "-" for NULL.
 *
 * <p>Usage: Client READ_PORT WRITE_PORT DATABASE
 */
public final class Client {
  private static final String[] COLUMNS = {"id", "name", "salary"};

  public static void main(String[] arguments) throws Exception {
    String database = arguments[2];
    HSClient reading = new HSClientImpl("127.0.0.1", Integer.parseInt(arguments[0]), 2);
    HSClient writing = new HSClientImpl("127.0.0.1", Integer.parseInt(arguments[1]), 2);
    try {
      IndexSession reader = reading.openIndexSession(database, "employee", "PRIMARY", COLUMNS);
      IndexSession writer = writing.openIndexSession(database, "employee", "PRIMARY", COLUMNS);
      IndexSession narrow =
          writing.openIndexSession(database, "employee", "PRIMARY", new String[] {"id", "name"});
      IndexSession byName =
          reading.openIndexSession(database, "employee", "by_name", new String[] {"id"});

      print("insert", writer.insert(new String[] {"10", "J\u00fcrgen\t\n", "5000"}));
      ModifyStatement statement = writer.createStatement();
      statement.setInt(1, 11);
      statement.setString(2, "by statement");
      statement.setLong(3, 7);
      print("insert by statement", statement.insert());
      print("find", COLUMNS.length, reader.find(new String[] {"10"}));
      print("find nothing", COLUMNS.length, reader.find(new String[] {"99"}));
      print("find range", COLUMNS.length, reader.find(new String[] {"1"}, FindOperator.GE, 3, 1));
      print("find down", COLUMNS.length, reader.find(new String[] {"3"}, FindOperator.LT, 10, 0));
      print("find by name", 1, byName.find(new String[] {"Bob"}));
      print("update", writer.update(
          new String[] {"2"}, new String[] {"2", "Bobby", "250"}, FindOperator.EQ));
      print("update range", writer.update(
          new String[] {"11"}, new String[] {"11", "later", "8"}, FindOperator.GE, 5, 0));
      print("delete", writer.delete(new String[] {"10"}));
      print("insert too many", narrow.insert(new String[] {"12", "Eve", "surplus", "1"}));
      print("update too many", narrow.update(
          new String[] {"4"}, new String[] {"4", "Daniel", "surplus"}, FindOperator.EQ));
      print("find from the beginning", COLUMNS.length,
          reader.find(new String[] {""}, FindOperator.GE, 2, 0));
      print("delete nothing", writer.delete(new String[] {"10"}));
    } finally {
      reading.shutdown();
      writing.shutdown();
    }
  }

  private static void print(String step, Object... values) {
    StringBuilder line = new StringBuilder(step);
    for (Object value : values) {
      line.append('\t').append(value == null ? "-" : encode(value.toString()));
    }
    System.out.println(line);
  }

  private static void print(String step, int columns, ResultSet rows) throws Exception {
    List<String> values = new ArrayList<>();
    while (rows.next()) {
      for (int column = 1; column <= columns; ++column) {
        values.add(rows.getString(column));
      }
    }
    print(step, values.toArray());
  }

  private static String encode(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}

package org.posterna.web;

import java.util.List;
import java.util.function.*;
import static org.posterna.Sizes.SMALL;

/**
 * Shows parcels.
 *
 * @since 2
 */
@RestController
@RequestMapping("/parcels")
public class ParcelController extends Base implements Shown {
    private static final int LIMIT = 10, STEP = 2;
    protected final Store store;
    String note;

    ParcelController(Store store) {
        this.store = store;
    }

    /** One parcel. */
    @GetMapping("/{id}")
    public Parcel show(@PathVariable long id) throws NotFound {
        Runnable later = new Runnable() {
            public void run() {}
        };
        return store.find(id);
    }

    private void close() {}

    public static void main(String[] args) {}

    enum State {
        NEW, SENT("s") { void step() {} };

        abstract void step();
    }

    interface Listener {
        int MAX = 3;
        void onSent(Parcel parcel);
    }

    record Label(String text, int size) {
        Label {
            text = text.trim();
        }
    }

    @interface Audited {
        String value() default "";
    }
}

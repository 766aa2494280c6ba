extension DisplayWords {
    static let arabic = DisplayWords(
        isRightToLeft: true,
        money: MoneyFormat(decimal: ".", group: ",", isSymbolFirst: true),
        idle: Copy("ادفع هنا بهاتفك", "يبدأ أمين الصندوق عملية الدفع"),
        closed: Copy("الدفع بالهاتف غير متاح الآن", "يرجى السؤال عند الصندوق"),
        preparing: Copy("لحظة من فضلك", "نجهّز عملية الدفع"),
        waiting: Copy("قرّب هاتفك هنا", "افتح تطبيق محفظتك"),
        near: Copy("تم العثور على هاتفك", "تحقّق من المبلغ على هاتفك"),
        confirming: Copy("جارٍ التأكيد", "أبقِ هاتفك قريبًا"),
        released: Copy("لم يتم الدفع بعد", "لم يُخصم أي مبلغ. حاول مرة أخرى"),
        paid: Copy("تم الدفع", "شكرًا لك!"),
        expired: Copy("انتهى الوقت", "لم يُخصم أي مبلغ. اسأل عند الصندوق"),
        cancelled: Copy("أُلغيت العملية", "لم يُخصم أي مبلغ"),
        checking: Copy("نتحقّق من الدفع", "يرجى الانتظار وعدم الدفع مرة أخرى"),
        unavailable: Copy("لا يمكن إتمام هذا الدفع", "لم يُخصم أي مبلغ. اسأل عند الصندوق"),
        offline: Copy("يرجى الانتظار", "إن كنت قد دفعت فلا تدفع مرة أخرى"),
        left: "متبقٍّ",
        code: "على هاتفك",
        scan: "بلا تطبيق؟ امسح للدفع",
        offAir: "لحظة …",
        silent: "قد يتأخر ظهور دفعتك هنا قليلًا",
        tip: "إكرامية",
        shares: "دُفعت {paid} من {count} حصص",
        places: "الأماكن المتبقية: {left}"
    )
}
